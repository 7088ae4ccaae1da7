"""InvalidInput names the field that is wrong, wherever one is: nobody has to read the sentence."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import asof
from asof import Memory

ROOT = Path(__file__).resolve().parents[2]
FACT = {"subject": "Ana", "relation": "lives_in", "object": "Oslo"}

Ask = Callable[[Memory], Any]

WRONG: dict[str, tuple[str, Ask]] = {
    "a generation that is there": ("name", lambda memory: memory.rebuild("main")),
    "a name that no generation may have": ("name", lambda memory: memory.rebuild("../x")),
    "a build under such a name": ("name", lambda memory: memory.resume_build("../x")),
    "the generation that answers": ("name", lambda memory: memory.drop("main")),
    "an ontology that is not there": ("ontology", lambda memory: memory.rebuild(ontology="none_such")),
    "an ontology's file that is not there": ("ontology", lambda memory: memory.estimate_rebuild(ontology="none.yaml")),
    "the ontology of an import": ("ontology", lambda memory: memory.import_facts([], ontology="none_such")),
    "a limit that is below nothing": ("max_cost", lambda memory: memory.rebuild(max_cost=-1)),
    "names by meaning without vectors": ("like", lambda memory: memory.entities(like="Anna")),
    "the group of lines": ("group_id", lambda memory: memory.produce([], group_id="a\tb")),
    "the group of structured facts": ("group_id", lambda memory: memory.import_facts([], group_id="")),
    "the group of an export": ("group_id", lambda memory: memory.import_export("mem0", __file__, group_id="")),
    "a file that is not there": ("file", lambda memory: memory.import_export("mem0", "none.json")),
    "a period that ends before it begins": ("stop", lambda memory: memory.overlapping("2021", "2020")),
    "such a period throughout": ("stop", lambda memory: memory.throughout("2021", "2020")),
    "what only a person has": ("only_said", lambda memory: memory.erase("g", only_said=True)),
    "a document of what was recorded": ("episodic", lambda memory: memory.export(format="csv", episodic=True)),
    "versions of what was recorded": ("episodic", lambda memory: memory.export(versions=True, episodic=True)),
    "details of versions": ("details", lambda memory: memory.export(versions=True, details=True)),
    "a directory with something in it": (
        "directory",
        lambda memory: memory.checkout(ROOT / "docs", known_at="2031-01-01"),
    ),
    "a fact that would be stated": (
        "statements.1.valid_at",
        lambda memory: memory.what_if([FACT, {**FACT, "valid_at": "soon"}]),
    ),
    "one of another group": (
        "statements.0.group_id",
        lambda memory: memory.what_if([{**FACT, "group_id": "other"}]),
    ),
    "a log without generations": ("generation", lambda memory: list(memory.events("messages", generation="main"))),
    "a partition that is not there": ("partition", lambda memory: list(memory.events(partition=3))),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_named_by_its_field(tmp_path: Path, wrong: str) -> None:
    field, ask = WRONG[wrong]
    with asof.open(tmp_path, embedder="none") as memory:
        memory.add("I live in Oslo.", role="Ana")
        with pytest.raises(asof.InvalidInput) as caught:
            ask(memory)

    assert caught.value.field == field


def test_a_directory_that_a_backup_cannot_be_restored_into_is_named_as_data(tmp_path: Path) -> None:
    with asof.open(tmp_path / "data", embedder="none") as memory:
        memory.add("I live in Oslo.", role="Ana")
        memory.backup(tmp_path / "file")
    with pytest.raises(asof.InvalidInput) as caught:
        asof.restore(tmp_path / "file", data=tmp_path / "data")

    assert caught.value.field == "data"


OF_NO_FIELD = {
    "whoever calls it says of which field it is": {
        *("instants from_datetime", "instants parse", "instants parse_moment", "messages check_group"),
        *("model/queries instant", "operations/times read_words", "cli/parameters number_of"),
    },
    "it is wrong as a whole, as a line, a record, a file or an item": {
        *("messages accept", "runtime/json_lines _json", "runtime/inbound_message check_size", "cli/csv_rows _texts"),
        *("cli/csv_rows facts_of_rows", "cli/json_lines lines_of", "runtime/foreign_items _of_document"),
        *("runtime/foreign_graphs messages", "kafka/inbox _fields", "kafka/inbox _message", "kafka/inbox _opened"),
        *("kafka/inbox _text", "kafka/inbox parse_message", "kafka/messages_topic _open", "long_slot belief"),
        "sqlite_requests positions_of",
    },
    "the memory, the machine or a server is not as the question needs it": {
        *("operations/sessions open_existing", "operations/upkeep repair"),
        *("runtime/backup back_up", "runtime/checkout check_out", "runtime/extractors expect"),
        *(
            "runtime/extractors registry_of",
            "runtime/kept_ontologies ontology_begun_with",
            "runtime/log_compression compress_logs",
        ),
        *("runtime/replica_manifest expect_no_copy", "runtime/replica_manifest _is_kept", "service/session writer"),
        "kafka/messages_topic __init__",
        *("kafka/errors _refusal", "kafka/errors _try", "kafka/errors translate", "kafka/topics _raise_refused"),
        *("kafka/topics create", "graph/arango/errors translation", "consolidation/partitions partition_of"),
        *("runtime/graph_database require_driver", "ciphers cipher"),
    },
    "a setting, or a file that a setting names: the sentence has the name by which it is set": {
        *("settings read", "service/api_keys read", "service/api_keys _expect_private"),
        *("runtime/graph_database _password", "graph/arango/connection parse", "kafka/topics __post_init__"),
        *("kafka/connection __post_init__", "kafka/connection _check", "kafka/connection _ssl_context"),
    },
    "options and arguments of a command line, whose sentences people read": {
        *("cli/discord/command discord", "cli/mcp mcp", "cli/prompts prompts"),
        *("mcp/local_socket __enter__", "mcp/stdio _welcomed"),
        *("cli/demo _place", "cli/erasures erase", "cli/facts facts", "cli/generations generations"),
        *("cli/ontology ontology", "cli/serve serve", "http/server _listen", "http/server serve"),
    },
    "the configuration of an agent's client, which is no question of ours": {
        *("mcp/install/changes text_of", "mcp/install/changes write", "mcp/install/entries _read"),
        *("mcp/install/entries with_entry", "mcp/install/jsonc _wrong", "mcp/install/jsonc with_member"),
    },
    "the first letters of an id, which several things have": {"mcp/identifiers _owned"},
    "it is below every question": {"sqlite _translate", "sqlite_log head"},
}


def unnamed() -> Iterator[str]:
    """Yield module and function of each InvalidInput that is made without a field."""
    for package in ("entrypoints/asof", "agents/asof_agents", "projections/asof_projections", "streams/asof_streams"):
        for path in sorted((ROOT / package).rglob("*.py")):
            source = path.read_text("utf-8")
            for scope in ast.walk(ast.parse(source if "InvalidInput" in source else "")):
                if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
                    for node in ast.walk(scope):
                        if _is_unnamed(node):
                            yield f"{path.relative_to(ROOT / package).with_suffix('').as_posix()} {scope.name}"


def _is_unnamed(node: ast.AST) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "InvalidInput"):
        return False
    return len(node.args) < 2 and not any(keyword.arg == "field" for keyword in node.keywords)


def test_whatever_else_names_no_field_stands_here_with_the_reason() -> None:
    assert set(unnamed()) == {one for ones in OF_NO_FIELD.values() for one in ones}
