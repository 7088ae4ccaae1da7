"""The MCP App that shows a fact on both clocks: to clients that say that they show apps, of both eras."""

from collections.abc import Iterator
from xml.etree import ElementTree as ET

import pytest
from mcp.client.extension import advertise

from asof.mcp.apps import EXTENSION, PICTURE, URI
from mcp_agent import ERAS, Agent, agent, end

MIME = "text/html;profile=mcp-app"
SVG = "{http://www.w3.org/2000/svg}"
WILD = "<b>&\u0007</svg>"
HOME = {"entity": "Ana", "relation": "lives_in"}


@pytest.fixture(scope="module", params=ERAS)
def agents(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Agent, Agent]]:
    """An agent whose client shows apps, and one whose client does not."""
    data = tmp_path_factory.mktemp("mcp-apps") / "data"
    shows = [advertise(EXTENSION, {"mimeTypes": [MIME]})]
    full = {"mode": request.param, "ASOF_MCP_PROFILE": "full"}
    with agent(data, extensions=shows, **full) as one, agent(data, **full) as other:
        one.tell("I live in Berlin since 2019.")
        one.tell("I moved to Oslo in March.", reference_time="2024-04-02T09:00:00Z")
        stated = {"subject": "Ana", "relation": "lives_in", "object": WILD, "fact": WILD, "valid_from": "2025"}
        one.became(one.ask("add_fact", **stated))
        yield one, other
    end(data)


def test_the_tool_names_its_app_and_the_page_is_read_where_a_client_shows_apps(agents: tuple[Agent, Agent]) -> None:
    one, other = agents
    named = {name: tool.meta["ui"] for name, tool in one.tools.items() if tool.meta}

    assert named == {"explain_fact": {"resourceUri": URI}}
    assert not any(tool.meta for tool in other.tools.values())
    page = one.read(URI)
    assert page.startswith("<!doctype html>")
    assert f'"{PICTURE}"' in page
    assert "http" not in page  # it loads nothing


def test_the_picture_has_a_rectangle_for_each_version_and_no_model_reads_it(agents: tuple[Agent, Agent]) -> None:
    one, other = agents
    result = one.call("explain_fact", **HOME)
    picture = ET.fromstring(result.meta[PICTURE])
    rectangles = picture.findall(f"{SVG}rect")[1:]

    facts = [rectangle.findtext(f"{SVG}title") for rectangle in rectangles]
    assert facts[:3] == ["Ana lives in Berlin", "Ana lives in Berlin", "Ana lives in Oslo"]
    sides = ("x", "y", "width", "height")
    first, ended, moved = ({side: int(shape.attrib[side]) for side in sides} for shape in rectangles[:3])
    assert first["x"] == ended["x"] < moved["x"] == ended["x"] + ended["width"]
    assert first["y"] < ended["y"] == moved["y"] == first["y"] + first["height"]
    texts = [text.text for text in picture.findall(f"{SVG}text")]
    assert {"Berlin", "Oslo", "2019-01-01", "2024-03-01", "<b>&�</svg>"} <= set(texts)
    assert "<svg" not in result.content[0].text
    assert PICTURE not in str(result.structured_content)
    plain = other.call("explain_fact", **HOME)
    assert PICTURE not in (plain.meta or {})
    assert plain.structured_content["facts"] == result.structured_content["facts"]
