"""What asof serve refuses before it serves anything."""

from pathlib import Path

import pytest

from asof.http.serving import serve
from asof.settings import Settings
from asof_streams.errors import InvalidInput


def refused(settings: Settings, host: str) -> str:
    with pytest.raises(InvalidInput) as error:
        serve(settings, host, 0, lambda _: pytest.fail("it serves"))
    assert not settings.data.exists()
    return str(error.value)


def test_an_address_that_other_machines_reach_is_refused(tmp_path: Path) -> None:
    assert "--host 0.0.0.0" in refused(Settings(data=tmp_path / "memory"), "0.0.0.0")
