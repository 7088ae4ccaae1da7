"""Optional packages, and the error that says how to install them."""

from importlib.util import find_spec

from asof_streams.errors import ModelUnavailable


def require(*modules: str, command: str) -> None:
    """Raise ModelUnavailable with the command that installs missing modules. None of them is imported."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise ModelUnavailable(f"not installed: {', '.join(missing)}. Get it with: {command}")
