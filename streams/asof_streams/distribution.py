"""The distribution that brings asof: its name on a package index, its version, and the command that installs it."""

from typing import Final

NAME: Final = "asof-memory"  # the import and the command are `asof`, a name that another project has on the index


def version() -> str:
    """Return the version that is installed."""
    from importlib import metadata  # noqa: PLC0415 - slow to load, and seldom asked for

    return metadata.version(NAME)


def requirements(extra: str) -> list[str]:
    """Return what an extra asks for, each as an installer takes it."""
    from importlib import metadata  # noqa: PLC0415 - slow to load, and seldom asked for

    found = [requirement.partition(";") for requirement in metadata.requires(NAME) or ()]
    return [wanted.strip() for wanted, _, marker in found if f"extra == '{extra}'" in marker.replace('"', "'")]


def install_command(*extras: str) -> str:
    """Return the command that installs asof with some extras, as a shell takes it."""
    return f'pip install "{NAME}[{",".join(extras)}]"' if extras else f"pip install {NAME}"
