"""The page of settings: one row for each field of asof.settings.Settings, with the docstring below it."""

from asof.settings import Settings
from making.source import attributes

PAGE = """\
# Settings

<!-- Made by docs/generate.py: change asof/settings.py instead. -->

Read once, when asof starts: an option of the command wins over a variable of the environment, that over `asof.toml` in
the current directory, that over the default.

| variable | in asof.toml | default | meaning |
|---|---|---|---|
"""


def page() -> str:
    """Return the page."""
    meanings = dict(attributes(Settings))
    rows = []
    for name, field in Settings.model_fields.items():
        default = "" if field.default is None else f"`{field.default}`"
        rows.append(f"| `ASOF_{name.upper()}` | `{name}` | {default} | {meanings[name]} |\n")
    return PAGE + "".join(rows)
