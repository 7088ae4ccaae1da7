"""Optional packages: there, or an error that says how to get them."""

from importlib.util import find_spec

from asof_streams.errors import ModelUnavailable


def require(*modules: str, extra: str) -> None:
    """Raise ModelUnavailable with the command that helps, unless every module is installed. Imports none of them."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise ModelUnavailable(f'not installed: {", ".join(missing)}. Get it with: pip install "asof[{extra}]"')
