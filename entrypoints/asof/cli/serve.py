"""The command that starts the HTTP door: serve."""

from importlib.util import find_spec
from typing import Annotated, Any

import typer

from asof.cli import show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.operations.errors import InvalidInput
from asof.operations.process import embedder_fallback, install_command, log_to_stderr, resolve_embedder


@command()
def serve(
    call: Call,
    *,
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="Where to listen; without API keys, on this machine alone.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65_535, metavar="PORT", help="Which port; 0 takes a free one.")
    ] = 8000,
) -> None:
    """Serve a memory over HTTP, with the routes of Graphiti's server, until stopped."""
    if not all(map(find_spec, ("fastapi", "uvicorn", "prometheus_client"))):
        raise InvalidInput(
            f"serving needs FastAPI, uvicorn and prometheus-client. Get them with: {install_command('serve')}"
        )
    from asof.http.server import serve as run

    settings = call.settings
    log_to_stderr(settings, "asof")

    def started(url: str) -> None:
        told: dict[str, Any] = {
            "url": url,
            "docs": f"{url}/docs",
            "mcp": f"{url}/mcp" if find_spec("mcp") else None,
            "data": str(settings.data.absolute()),
            "extractor": settings.extractor,
            "embedder": resolve_embedder(settings),
            "embedder_fallback": embedder_fallback(settings),
            "keys": settings.keys_file is not None,
        }
        if call.as_json:
            show.data(told, at_once=True)
        else:
            agents = f", to agents at {told['mcp']}" if told["mcp"] else ""
            show.talk(
                f"serving at {url}{agents}, described at {told['docs']}\n"
                f"data in {told['data']}, extractor {settings.extractor}, embedder {told['embedder']}, "
                + ("API keys are needed" if told["keys"] else "without API keys, for this machine alone")
            )
            if told["embedder_fallback"]:
                show.talk(str(told["embedder_fallback"]))

    run(settings, host, port, started)
