"""What asof serve refuses before it serves anything, and the routes that it has."""

from pathlib import Path

import pytest

from asof.http.app import application
from asof.http.middleware.metrics import Metrics
from asof.http.routes import v1
from asof.http.server import serve
from asof.settings import Settings
from asof_streams.errors import InvalidInput


def refused(settings: Settings, host: str) -> str:
    with pytest.raises(InvalidInput) as error:
        serve(settings, host, 0, lambda _: pytest.fail("it serves"))
    assert not settings.data.exists()
    return str(error.value)


def test_an_address_that_other_machines_reach_is_refused(tmp_path: Path) -> None:
    assert "--host 0.0.0.0" in refused(Settings(data=tmp_path / "memory"), "0.0.0.0")


def test_an_application_does_not_make_the_routes_of_its_routers_once_more() -> None:
    routes = application(None, None, Metrics()).routes

    assert [route for route in v1.router.routes if not any(route is one for one in routes)] == []
