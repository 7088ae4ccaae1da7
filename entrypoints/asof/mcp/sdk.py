"""Loads the SDK of MCP, which takes a second, when it is first needed, in a thread of its own."""

import asyncio
import logging
from importlib import import_module
from threading import Lock
from typing import Final

_LOADING: Final = Lock()  # two threads that import it at once may each find it half done


async def load_sdk() -> None:
    """Return once the SDK and what is made of it are loaded; meanwhile others are served."""
    await asyncio.to_thread(load_sdk_here)


def load_sdk_here() -> None:
    """Load the SDK in this thread, or wait for the one that does."""
    with _LOADING:
        import_module("asof.mcp.server")
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # what it logs may quote what was sent
