"""Loads the SDK of MCP, which takes half a second, when it is first needed, in a thread of its own."""

import asyncio
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from threading import Lock
from types import ModuleType
from typing import Any, Final

from pydantic import BaseModel

_LOADING: Final = Lock()  # two threads that import it at once may each find it half done
_COLLECTIONS: Final = ("mcp", "mcp.server")  # packages whose own code imports clients and servers of every kind


async def load_sdk() -> None:
    """Return once the SDK and what is made of it are loaded; meanwhile others are served."""
    await asyncio.to_thread(load_sdk_here)


def load_sdk_here() -> None:
    """Load the SDK in this thread, or wait for the one that does."""
    with _LOADING, _built_when_used():
        for name in _COLLECTIONS:
            _put_off(name)
        import_module("mcp.types")  # or `from mcp import types` would ask the package for it
        import_module("asof.mcp.server")
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # what it logs may quote what was sent


@contextmanager
def _built_when_used() -> Iterator[None]:
    """Let models that are defined meanwhile be built when they are first used: the SDK has hundreds, and few are."""
    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]


def _put_off(package: str) -> None:
    """Let the modules of a package be imported without its own code, unless it was imported before."""
    if package in sys.modules:
        return
    spec = find_spec(package)
    assert spec is not None, "the extra is installed"
    module = sys.modules[package] = _Unread.of(spec)
    parent, _, name = package.rpartition(".")
    if parent:
        setattr(sys.modules[parent], name, module)


class _Unread(ModuleType):
    """A package whose own code runs once it is asked for something that no module of it is: a quarter of the SDK.

    As importlib's LazyLoader does with a module; of a package, that one would run the code for each module within.
    """

    @classmethod
    def of(cls, spec: ModuleSpec) -> ModuleType:
        """Return a package as it is before its code runs."""
        module = module_from_spec(spec)
        module.__class__ = cls
        return module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked for by whoever looks at modules
            raise AttributeError(name)
        self.__class__ = ModuleType  # type: ignore[assignment]
        assert self.__spec__ is not None
        assert self.__spec__.loader is not None
        self.__spec__.loader.exec_module(self)
        return getattr(self, name)
