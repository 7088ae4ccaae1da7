"""The MCP App: a page by which a client shows the picture of a fact on both clocks, beside the text of the answer.

The page is the same for every fact. What it shows comes with the result of a call, in the part of it that no model
reads, and only to clients that say that they show apps (the extension `io.modelcontextprotocol/ui`).
"""

from typing import Any, Final

from mcp import types

EXTENSION: Final = "io.modelcontextprotocol/ui"
URI: Final = "ui://asof/two-clocks"
PICTURE: Final = "asof/picture"
_MIME: Final = "text/html;profile=mcp-app"
_PAGE: Final = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>A fact on both clocks</title>
<style>body{margin:0;font:13px system-ui,sans-serif}figure{margin:8px;overflow:auto}</style>
<figure id="picture">There is no picture of this.</figure>
<script>
const send = message => window.parent.postMessage({jsonrpc: "2.0", ...message}, "*");
const show = svg => {
  const picture = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  if (picture.nodeName !== "svg") return;
  document.getElementById("picture").replaceChildren(document.importNode(picture, true));
  const {scrollWidth: width, scrollHeight: height} = document.documentElement;
  send({method: "ui/notifications/size-changed", params: {width, height}});
};
window.addEventListener("message", ({source, data}) => {
  if (source !== window.parent || data?.jsonrpc !== "2.0") return;
  if (data.id === 1 && data.result) send({method: "ui/notifications/initialized", params: {}});
  else if (data.method === "ui/notifications/tool-result") show(data.params?._meta?.["asof/picture"] ?? "");
  else if (data.method && data.id !== undefined) send({id: data.id, result: {}});
});
send({id: 1, method: "ui/initialize", params: {
  protocolVersion: "2026-01-26", appInfo: {name: "asof", version: "1"}, appCapabilities: {}
}});
</script>
"""


def shows_apps(context: Any) -> bool:
    """Whether the client of a request shows apps."""
    capabilities = context.session.client_capabilities
    extensions = None if capabilities is None else capabilities.extensions
    kinds = ((extensions or {}).get(EXTENSION) or {}).get("mimeTypes")
    return isinstance(kinds, list | tuple) and _MIME in kinds


def page() -> types.ReadResourceResult:
    """Return the page."""
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=URI, mime_type=_MIME, text=_PAGE)])
