"""What one extra brings is needed by nothing that another extra is for."""

from pathlib import Path

from http_server import serving

KAFKA = "import sys\nsys.modules.update(dict.fromkeys(('aiokafka', 'faust', 'mode')))\n"  # cannot be imported


def test_a_memory_is_served_where_nothing_for_kafka_is_installed(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(KAFKA, encoding="utf-8")

    with serving(tmp_path / "data", PYTHONPATH=str(tmp_path)) as server:
        server.say("g", "I live in Paris.")

        assert [fact["fact"] for fact in server.search("Where does Ana live?", "g")] == ["Ana lives in Paris"]
