"""The lists of tools of MCP, whole: what agents see of each profile is what its golden file has."""

import json
from typing import Any

import pytest

from asof.mcp.profiles import PROFILES
from asof.mcp.scope import ClientScope
from asof.mcp.server import listed
from asof.mcp.tools import TOOLS, Tool
from golden.make_mcp_tools import FOLDER, golden_file, golden_list, written

AGAIN = "a client sees another list: if that is meant, python tests/golden/make_mcp_tools.py writes it again"


@pytest.mark.parametrize("profile", PROFILES)
def test_a_client_sees_the_list_of_the_golden_file(profile: str) -> None:
    assert golden_file(profile).read_text(encoding="utf-8") == written(golden_list(profile)), AGAIN


def test_each_profile_has_a_golden_file_and_each_file_a_profile() -> None:
    assert {path.stem.removeprefix("mcp_tools_") for path in FOLDER.glob("mcp_tools_*.json")} == PROFILES.keys()


def test_a_golden_file_has_all_that_a_client_sees_of_a_tool() -> None:
    for profile in PROFILES:
        for tool in json.loads(golden_file(profile).read_text(encoding="utf-8"))["tools"]:
            assert tool.keys() == {"name", "description", "inputSchema", "outputSchema", "annotations"}, tool["name"]


def test_a_changed_word_of_a_description_is_another_list(monkeypatch: pytest.MonkeyPatch) -> None:
    before = written(golden_list("core"))
    changed: Tool[Any] = TOOLS["recall"]
    monkeypatch.setitem(changed.__dict__, "description", "Something else.")
    assert written(golden_list("core")) != before
    assert listed("core", ClientScope())[0].description == "Something else."
