"""What was handed out is known after a restart, also where a crash tore the last line."""

from contextlib import closing
from pathlib import Path

from asof.service.deliveries import Deliveries
from asof_streams.instants import DAY, SECOND

NOW = 1_736_937_000_000_000


def test_an_id_is_noted_once_also_after_a_restart(tmp_path: Path) -> None:
    with closing(Deliveries(tmp_path / "deliveries", NOW)) as deliveries:
        assert not deliveries.has("a")
        assert deliveries.note("a", NOW)
        assert not deliveries.note("a", NOW)

    with closing(Deliveries(tmp_path / "deliveries", NOW + SECOND)) as deliveries:
        assert deliveries.begun == NOW
        assert deliveries.has("a")
        assert deliveries.note("b", NOW)


def test_a_torn_line_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "deliveries"
    with closing(Deliveries(path, NOW)) as deliveries:
        deliveries.note("a", NOW)
    with path.open("a") as file:
        file.write(f"{NOW} half")  # of an id whose answer was never handed out

    with closing(Deliveries(path, NOW)) as deliveries:
        deliveries.note("b", NOW)
    with closing(Deliveries(path, NOW)) as deliveries:
        assert (deliveries.has("a"), deliveries.has("b")) == (True, True)


def test_ids_are_forgotten_once_their_answers_are_too_old_to_be_handed_out(tmp_path: Path) -> None:
    with closing(Deliveries(tmp_path / "deliveries", NOW)) as deliveries:
        deliveries.note("old", NOW)
        deliveries.note("new", NOW + 2 * DAY)

    with closing(Deliveries(tmp_path / "deliveries", NOW + 2 * DAY)) as deliveries:
        assert (deliveries.has("old"), deliveries.has("new")) == (False, True)
        assert deliveries.begun == NOW
