"""The command that serves a memory over HTTP: serve."""

from importlib.util import find_spec
from typing import Annotated

import typer

from asof.children import log_to_stderr
from asof.cli import calls, show
from asof.cli.options import Data, Json
from asof_streams.errors import InvalidInput


def serve(
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="Where to listen: on this machine.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65_535, metavar="PORT", help="Which port; 0 takes a free one.")
    ] = 8000,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Serve a memory over HTTP, with the routes of Graphiti's server, until stopped."""
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise InvalidInput('serving needs FastAPI and uvicorn. Get them with: pip install "asof[serve]"')
    from asof.http.serving import serve as run

    log_to_stderr("asof")

    def started(url: str) -> None:
        if as_json:
            show.data({"url": url}, at_once=True)
        else:
            show.talk(f"serving at {url}, which /docs describes")

    run(calls.settings(data), host, port, started)
