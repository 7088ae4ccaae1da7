"""The page of settings: one row for each field of asof.settings.Settings, with the docstring below it."""

from pydantic import BaseModel

from asof.settings import Settings, from_found
from making.source import attributes

PAGE = """\
# Settings

<!-- Made by docs/generate.py: change asof/settings.py instead. -->

Read once, when asof starts: an option of the command wins over a variable of the environment, that over a TOML file,
that over the default. The file is the one named with `--settings FILE`, `ASOF_SETTINGS_FILE` or
`asof.open(settings_file=...)`; where none is named, it is `asof.toml` in the current directory. A variable that is
set to nothing counts as not set.

**`./asof.toml` is not trusted**, as it may have come with a repository that was cloned. The column "found" says what it
may set without being named: `inside` is a path below its own folder; anything that is not `yes` or `inside` is refused.

**A data directory that nobody named has to be yours.** `./asof-data`, or what `./asof.toml` names, is refused where it
belongs to another user, every user may write to it, or it leads out of the current directory; name it with `--data` if
you trust it. In any data directory links are refused, and SQLite files with views or triggers that asof did not make.
What a stranger's memory says is still theirs: do not believe it because asof does.

**A secret is sent only to the address that it was set with.** A key in the environment and an address in a file (or the
other way round) is refused: set both in the environment, both in one file, or both as arguments. The default address
goes with any key.

| variable | in the file | found | default | meaning |
|---|---|---|---|---|
"""


def page() -> str:
    """Return the page."""
    meanings = dict(attributes(Settings))
    rows = []
    for name, field in Settings.model_fields.items():
        default = "" if field.default is None or isinstance(field.default, BaseModel) else f"`{field.default}`"
        rows.append(f"| `ASOF_{name.upper()}` | `{name}` | {from_found(name)} | {default} | {meanings[name]} |\n")
    return PAGE + "".join(rows)
