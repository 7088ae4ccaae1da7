"""The span of each request. It names the route, never the path or the query that were sent: they may be content."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from asof.http.middleware.metrics import METHODS
from asof.operations import tracing


class Traced:
    """Makes each request a span, also those that another middleware answers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not tracing.is_on():
            await self._app(scope, receive, send)
            return
        method = scope["method"] if scope["method"] in METHODS else "_OTHER"
        attributes = {tracing.HTTP_METHOD: method, tracing.URL_SCHEME: scope["scheme"]}
        with tracing.request_span(method, attributes, Headers(scope=scope).get(tracing.TRACEPARENT)) as span:

            async def noted(message: Message) -> None:
                if message["type"] == "http.response.start":
                    status = message["status"]
                    span.note({tracing.HTTP_STATUS: status})
                    if status >= 500:
                        span.fail(str(status))
                await send(message)

            try:
                await self._app(scope, receive, noted)
            finally:
                route = getattr(scope.get("route"), "path_format", None)
                if route is not None:
                    span.rename(f"{method} {route}")
                    span.note({tracing.HTTP_ROUTE: route})
