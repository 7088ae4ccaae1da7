"""The SDK of MCP is loaded without its clients, and is whole for whoever asks for more of it."""

import subprocess
import sys

import pytest

LOAD = "from asof.mcp.sdk import load_sdk_here\nload_sdk_here()\n"


def said(program: str) -> str:
    """Return what a program says in an interpreter of its own."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout.strip()


@pytest.mark.parametrize("before", ["", "import mcp\n"], ids=["first", "after a program imported it"])
def test_what_a_package_of_the_sdk_offers_is_there_once_it_is_asked_for(before: str) -> None:
    program = f"""{before}{LOAD}
import mcp, mcp.server, mcp.types
from mcp.server.lowlevel import Server
from mcp import Client, types
print(all(getattr(package, name) for package in (mcp, mcp.server) for name in package.__all__))
print(mcp.server.Server is Server, types is mcp.types, type(mcp).__name__)
"""

    assert said(program) == "True\nTrue True module"


def test_a_name_that_a_package_of_the_sdk_has_not_is_an_error() -> None:
    program = f"{LOAD}import mcp.server\nprint(hasattr(mcp.server, 'nothing'), hasattr(mcp, '__nothing__'))"

    assert said(program) == "False False"
