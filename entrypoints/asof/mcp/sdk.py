"""Loads the SDK of MCP, which takes a second, when it is first needed, in a thread of its own."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from typing import Final

from pydantic import BaseModel

_LOADING: Final = Lock()  # two threads that import it at once may each find it half done


async def load_sdk() -> None:
    """Return once the SDK and what is made of it are loaded; meanwhile others are served."""
    await asyncio.to_thread(load_sdk_here)


def load_sdk_here() -> None:
    """Load the SDK in this thread, or wait for the one that does."""
    with _LOADING, _built_when_used():
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
