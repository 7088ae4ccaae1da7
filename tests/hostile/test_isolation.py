"""Every route, verb and command that there is, asked for one group while others are told secrets.

All that one can ask is asked twice: before and after other groups got canaries. The answers have to be the same, so
neither a word nor a count tells of the others: only positions count all messages. A new route, parameter, verb or
command fails here until it has a recipe.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

import asof
from api_keys import ADMIN, TEAM_ADMIN, sent, written
from asof.api.memory import Memory
from asof.cli import app, calls
from asof.cli.commands import COMMANDS
from commands import Asof
from http_server import Server, serving

OWN = "team-b"
OTHERS = ["team", "team2", "team2-b", "TEAM-b", "tea", "x-team-b", "team_b"]
CANARY = "Canarywood"
NOTHING = "6f2b0c1e-0000-5000-8000-000000000000"
AT = "2035-01-01T00:00:00Z"
SECRETS = [f"I live in {CANARY}.", f"My sister {CANARY} works at {CANARY} Ltd.", "I moved to Oslo in March.", "Hm."]
FACT = {"subject": "Ana", "relation": "lives_in", "object": "Rome", "valid_at": AT, "said_at": AT}

QUESTIONS = {  # by parameter, what is asked; of those that are needed, the first
    "group_id": [OWN],
    "limit": ["1", "1000"],
    "cursor": [],  # a page later: followed below
    "about": ["Ana", CANARY, "Oslo"],
    "relation": ["lives_in", "works_at"],
    "relations": ["lives_in", "works_at"],
    "entity_types": ["place", "person"],
    "center": ["Ana", CANARY, NOTHING],
    "budget": ["200", "10000"],
    "kinds": ["fact", "episode"],
    "timezone": ["Asia/Tokyo"],
    "group_ids": [],  # of others, below
    "object": ["Oslo", CANARY],
    "object_type": ["place", "organization"],
    "known_at": [AT, "2020"],
    "valid_at": [AT, "2020"],
    "any_time": ["true"],
    "from": ["2020", "0"],
    "to": ["2030", "9"],
    "query": ["Where does Ana live?", CANARY],
    "over": ["facts", "episodes", "both"],
    "min_probability": ["0", "0.5"],
    "like": ["Ana", CANARY],
    "person": ["Ana", CANARY],
    "only_said": ["true"],
    "phrase": ["Oslo", CANARY],
    "name": ["Ana", CANARY, "Oslo"],
    "hops": ["3"],
    "profile": ["default"],  # the other one, whose scores depend on the moment that is asked about, below
    "mindset": ["divergent"],
    "explain": ["true"],
    "settled": ["true"],
    "withdrawn": ["true"],
    "after": ["0"],
    "prefix": ["", "t", "team", "team-"],
    "format": ["json", "graphml", "csv", "jsonld", "mermaid", "parquet"],
    "episodic": ["true"],
    "details": ["true"],
    "versions": ["true"],
    "log": ["messages", "episodic", "semantic"],
    "generation": ["g1"],
    "base": ["main"],
    "other": ["main"],
    "last_n": ["1000"],
    "min_position": ["0"],
    "wait": [],  # of writes alone
    "all_groups": [],  # refused below
    "id": [NOTHING],
    "uuid": [NOTHING],
    "position": ["0"],
    "Idempotency-Key": [],
    "Last-Event-ID": ["0"],
}
BODIES: dict[str, Any] = {
    "/search": {"query": "Where does Ana live?", "group_ids": [OWN]},
    "/get-memory": {
        "group_id": OWN,
        "center_node_uuid": None,
        "messages": [{"content": "Ana", "role_type": "user", "role": "Ana"}],
    },
    "/groups/resolve": {"scope": "user", "key": "ana"},
    "/v1/what-if": {"group_id": OWN, "statements": [FACT]},
}
POSITIONS = ["3", "5", "9"]  # of messages of others
WRITES: dict[tuple[str, str], Any] = {
    ("POST", "/messages"): {"group_id": "GROUP", "messages": [{"content": "x", "role_type": "user"}]},
    ("POST", "/entity-node"): {"uuid": "ID", "group_id": "GROUP", "name": "x"},
    ("POST", "/v1/facts"): {"group_id": "GROUP", "statements": [FACT, {"op": "retract", "ref": "ID"}]},
    ("POST", "/v1/identities"): {"group_id": "GROUP", "op": "merge", "entity": "ID", "into": "Ana"},
    ("POST", "/v1/timezone"): {"group_id": "GROUP", "timezone": "Europe/Berlin"},
    ("POST", "/v1/settle"): {"group_id": "GROUP", "id": "ID"},
    ("POST", "/v1/retry"): {"group_id": "GROUP", "positions": [3]},
    ("POST", "/v1/consolidate"): {"group_id": "GROUP"},
    ("POST", "/v1/erase"): {"group_id": "GROUP"},
    ("POST", "/v1/conversation/incoming"): {
        "group_id": "GROUP",
        "kind": "message",
        "external_id": "ID",
        "content": "x",
    },
    ("POST", "/v1/conversation/sent"): {"group_id": "GROUP", "id": "ID", "external_id": "x"},
    ("POST", "/v1/conversation/due"): {"group_id": "GROUP"},
    **{("POST", f"/v1/generations{path}"): {"name": "new"} for path in ("", "/estimate")},
    **{
        ("POST", f"/v1/generations/{action}"): {"name": "main"}
        for action in ("switch", "drop", "pause", "cancel", "resume")
    },
    ("POST", "/v1/prompts"): {"prompt": "MAIN_CONVERSATION", "template": "{current_message}"},
    ("POST", "/v1/prompts/activate"): {"prompt": "MAIN_CONVERSATION", "version": 1},
    ("POST", "/clear"): None,
    ("DELETE", "/entity-edge/{uuid}"): None,
    ("DELETE", "/episode/{uuid}"): None,
    ("DELETE", "/group/{group_id}"): None,
}
OF_THE_SERVICE = {  # how much waits, and how a bot speaks; all but the first are for keys of all groups
    *("/readyz", "/metrics", "/v1/stats", "/v1/generations/builds", "/v1/generations/digest", "/v1/prompts"),
}
GLOBAL_POSITIONS = {"/v1/events", "/v1/changes"}  # positions, with which one goes on, count all messages


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("isolation")
    with serving(folder / "data", ASOF_KEYS_FILE=str(written(folder / "keys.toml"))) as running:
        running.client.headers.update(sent(ADMIN))
        running.say(OWN, "I live in Oslo.", "I work at Initech.", role="Ana")
        yield running


def described(server: Server) -> dict[tuple[str, str], dict[str, Any]]:
    paths = server.client.get("/openapi.json").json()["paths"]
    return {(method.upper(), path): about for path, methods in paths.items() for method, about in methods.items()}


def requests(server: Server) -> Iterator[dict[str, Any]]:
    """Yield every question about the own group: each route with each value of each of its parameters."""
    for (method, path), about in described(server).items():
        if (method, path) in WRITES or path in OF_THE_SERVICE:
            continue
        parameters = {p["name"]: p for p in about.get("parameters", [])}
        first = {name: QUESTIONS[name][0] for name, p in parameters.items() if p.get("required") or name == "group_id"}
        ends = {"to": "1"} if path.endswith("/stream") else {}  # or it would not
        variants = [first, *({**first, name: value} for name in parameters for value in QUESTIONS[name])]
        for asked in ({**variant, **ends} for variant in variants):
            inside = {name for name, p in parameters.items() if p["in"] == "path"}
            yield {
                "method": method,
                "url": path.format(**{name: asked[name] for name in inside}),
                "params": {name: value for name, value in asked.items() if parameters[name]["in"] == "query"},
                "headers": {name: value for name, value in asked.items() if parameters[name]["in"] == "header"},
                **({"json": BODIES[path]} if "requestBody" in about else {}),
            }
    for query in QUESTIONS["query"]:
        params = {"query": query, "group_id": OWN, "profile": "pipeline", "valid_at": AT}
        yield {"method": "GET", "url": "/v1/search", "params": params}


def ask(server: Server, request: dict[str, Any]) -> tuple[int, str]:
    headers = {**request.get("headers", {}), **sent(TEAM_ADMIN)}
    answer = server.client.request(**{**request, "headers": headers})
    text = answer.text
    if request["url"] == "/v1/what-if":
        text = unnamed(text)
    if request["url"] in GLOBAL_POSITIONS:
        text = re.sub(r'"next":\d+', '"next":N', text)
    if request["url"] == "/v1/context":
        text = at_any_time(text)
    return answer.status_code, re.sub(r'"next":"[^"]+"', '"next":CURSOR', text)


def at_any_time(context: str) -> str:
    """Return a context without the moment at which it was asked for, and up to which message it is."""
    told = re.sub(r"As of [-0-9: ]+", "As of TIME", context)
    return re.sub(r'"valid_at":"[^"]+","known_at":("[^"]+"|null),"position":(\d+|null)', "", told)


def unnamed(text: str) -> str:
    """Return an answer without ids: what would be has ids that are made of the position at which it would stand."""
    return re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", text)


def test_every_route_and_parameter_has_a_recipe(server: Server) -> None:
    routes = described(server)

    assert WRITES.keys() <= routes.keys()
    assert {path for (method, path), about in routes.items() if "requestBody" in about} == (
        BODIES.keys() | {path for (_, path), body in WRITES.items() if body is not None}
    )
    assert {p["name"] for about in routes.values() for p in about.get("parameters", [])} == QUESTIONS.keys()
    assert {method for method, _ in routes} <= {"GET", "POST", "DELETE"}
    assert {route for route in routes if route[0] == "DELETE"} <= WRITES.keys()


def test_a_key_of_some_groups_learns_nothing_of_others_from_any_route(server: Server) -> None:
    asked = list(requests(server))
    before = [ask(server, request) for request in asked]
    assert {status for status, _ in before} <= {200, 404, 422}
    assert sum(status == 200 for status, _ in before) > 100

    tell_others(server)
    theirs = ids_of_others(server)
    after = [ask(server, request) for request in asked]

    for request, first, second in zip(asked, before, after, strict=True):
        assert first == second, request
        assert CANARY not in second[1] or CANARY in json.dumps(request), request
    expect_nothing_of(server, theirs)
    expect_no_write(server, theirs)


def tell_others(server: Server) -> None:
    for number, group in enumerate(OTHERS):
        server.say(group, *SECRETS, *["Hm."] * number, role="Ana")
    server.client.get("/v1/search", params={"query": CANARY, "all_groups": "true"})


def ids_of_others(server: Server) -> list[str]:
    """Return an id of each kind of everything that the others have."""
    found: list[str] = []
    for group in OTHERS:
        for path in ("/v1/facts", "/v1/entities", "/v1/episodes"):
            page = server.client.get(path, params={"group_id": group}).json()
            items = next(value for value in page.values() if isinstance(value, list))
            found += [item.get("uuid") or item["id"] for item in items]
    assert len(found) > 20
    return found[:: len(found) // 8]


def expect_nothing_of(server: Server, ids: list[str]) -> None:
    """What others have is for this key as what nobody has, and another group is refused."""
    for (method, path), about in described(server).items():
        names = {p["name"]: p["in"] for p in about.get("parameters", [])}
        if (method, path) in WRITES or path in OF_THE_SERVICE:
            continue
        first = {name: QUESTIONS[name][0] for name, p in names.items() if p != "header" and QUESTIONS[name]}
        first = {
            n: v
            for n, v in first.items()
            if names[n] == "path" or n in {"group_id", "from", "to", "last_n", "query", "base", "other"}
        }
        if "profile" in names:  # only one of the profiles knows times of what was said
            first = {n: v for n, v in first.items() if n not in {"from", "to"}}
        first |= {n: QUESTIONS[n][0] for n, p in names.items() if n in {"id", "name"} and p == "query"}
        for name in names.keys() & {"id", "uuid", "name", "about", "center", "position"}:
            answers = set()
            for some in ("999999", *POSITIONS) if name == "position" else (NOTHING, *ids):
                status, text = ask(server, filled(method, path, names, {**first, name: some}))
                answers.add((status, text.replace(some, "ID")))
            assert len(answers) == 1, (path, name, answers)
        if "group_ids" in names:
            for groups in (OTHERS[:1], [OWN, OTHERS[1]], OTHERS):
                asked: dict[str, Any] = {**first, "group_ids": groups}
                del asked["group_id"]
                assert ask(server, filled(method, path, names, asked))[0] == 403, (path, groups)
        if "group_id" in names:
            for group in OTHERS:
                status, text = ask(server, filled(method, path, names, {**first, "group_id": group}))
                assert (status in {403, 404}) or (path.startswith("/v1/events") and CANARY not in text), (path, group)
        if "all_groups" in names:
            asked = {n: v for n, v in first.items() if n != "group_id"} | {"all_groups": "true"}
            assert ask(server, filled(method, path, names, asked))[0] == 403, path


def filled(method: str, path: str, names: dict[str, str], asked: dict[str, Any]) -> dict[str, Any]:
    ends = {"to": "1"} if path.endswith("/stream") else {}
    return {
        "method": method,
        "url": path.format(**{name: asked[name] for name, place in names.items() if place == "path"}),
        "params": {**{n: v for n, v in asked.items() if names.get(n) == "query"}, **ends},
    }


def expect_no_write(server: Server, ids: list[str]) -> None:
    """No write reaches another group, by its name or by an id of something that it has."""
    before = server.client.get("/v1/export", params={"all_groups": "true", "any_time": "true"}).text
    for (method, path), body in WRITES.items():
        for group, some in [*((group, NOTHING) for group in OTHERS), *(("nowhere", some) for some in ids)]:
            given = json.loads(json.dumps(body).replace("GROUP", group).replace('"ID"', f'"{some}"'))
            request = {"method": method, "url": path.format(uuid=some, group_id=group)}
            answer = ask(server, {**request, **({} if given is None else {"json": given})})
            assert answer[0] in {403, 404}, (path, group, some, answer)
    assert server.client.get("/v1/export", params={"all_groups": "true", "any_time": "true"}).text == before


def test_keys_of_some_groups_hear_nothing_of_the_whole_service(server: Server) -> None:
    for path in OF_THE_SERVICE - {"/readyz"}:
        assert server.client.get(path, headers=sent(TEAM_ADMIN)).status_code == 403, path


# The other doors have no keys, but a question is about one group.

NAMED = {"group_id": OWN}
VERBS: dict[str, list[dict[str, Any]]] = {
    "facts": [{}, {"any_time": True}, {"about": "Ana"}, {"object": CANARY}],
    "search": [
        {"query": "Where does Ana live?"},
        {"query": CANARY},
        {"query": "Where does Ana live?", "profile": "pipeline", "valid_at": AT},
        {"query": CANARY, "profile": "pipeline", "valid_at": AT},
    ],
    "context": [{"query": "Where does Ana live?", "valid_at": AT}, {"query": CANARY, "valid_at": AT}],
    "entities": [{}, {"like": CANARY}],
    "entity": [{"name": "Ana"}, {"name": CANARY}],
    "communities": [{}],
    "neighbourhood": [{"name": "Ana", "hops": 3}],
    "timeline": [{"name": "Ana"}],
    "history": [{"id": "Ana"}],
    "diff": [{"start": ("2020", "2020"), "stop": (AT, AT)}],
    "changes": [{}],
    "contradictions": [{}],
    "objectives": [{}],
    "feedback": [{}, {"withdrawn": True}],
    "episodes": [{}],
    "overlapping": [{"start": "2020", "stop": "2030"}],
    "throughout": [{"start": "2020", "stop": "2030"}],
    "parked": [{}],
    "erasure_preview": [{}, {"phrase": CANARY}, {"person": "Ana"}],
    "usage": [{}],
    "export": [
        {},
        *({"format": form, "versions": True} for form in ("graphml", "csv", "jsonld", "mermaid", "parquet")),
        {"episodic": True},
        {"details": True},
        {"episodic": True, "details": True},
    ],
    "what_if": [{"statements": [FACT]}],
    "groups": [{"prefix": "team-"}],
    "generations_diff": [{"base": "main", "other": "main"}],
}
BY_ID = {"fact", "why", "known_history", "episode", "message"}  # an id is of one group
OF_ALL = {
    "stats",
    "embed",
    "verify",
    "digest",
    "generations",
    "active",
    "events",
    "replay",
    "builds",
    "estimate_rebuild",
    "prompts",
}  # of the directory, for its owner
CHANGES = {
    *(
        "add",
        "produce",
        "import_facts",
        "import_export",
        "state_fact",
        "state_entity",
        "end",
        "retract",
        "withdraw",
        "erase",
    ),
    *(
        "state_timezone",
        "merge",
        "split",
        "alias",
        "unalias",
        "rebuild",
        "pause_build",
        "resume_build",
        "cancel_build",
        "switch",
        "drop",
        "repair",
        "compress",
        "snapshot",
        "backup",
        "checkout",
        "settle",
        "retry",
        "consolidate",
        "register_prompt",
        "activate_prompt",
        "close",
    ),
}
OF_NO_MEMORY = {
    "chat",  # of one group, as tests/integration/test_chat.py has it
    "completion",
    "demo",
    "doctor",
    "model",
    "ontology",
    "read",
    "restore",
    "serve",
    "worker",
    "topics",
    "mcp",  # each tool, below
    "discord",  # its own test holds what it shows to whom
    "graph",
}


def told(verb: str) -> str:
    return verb.replace("-", "_")


def test_every_verb_and_every_command_has_a_recipe() -> None:
    verbs = {name for name in vars(Memory) if not name.startswith("_")}
    commands = {told(name) for name in COMMANDS}

    assert verbs == VERBS.keys() | BY_ID | OF_ALL | CHANGES
    assert commands - OF_NO_MEMORY - {"import", "assert", "correct"} <= verbs | {"verify"}


def answer_of(memory: Memory, verb: str, given: dict[str, Any]) -> str:
    scope = {} if verb == "groups" else NAMED
    answer = getattr(memory, verb)(**given, **scope)
    if not isinstance(answer, list | tuple) and hasattr(answer, "__iter__"):
        answer = list(answer)
    return unnamed(repr(shown(answer))) if verb == "what_if" else repr(shown(answer))


def shown(answer: Any) -> Any:
    """Return all that an answer holds: its repr has no content. Cursors know times alone."""
    if is_dataclass(answer):
        passed_over = {"next", "position"} if isinstance(answer, asof.Context) else {"next"}
        return {
            field.name: shown(getattr(answer, field.name)) for field in fields(answer) if field.name not in passed_over
        }
    beside = [answer.episodes, answer.retrieval] if isinstance(answer, asof.Hits) else []
    return [shown(one) for one in [*answer, *beside]] if isinstance(answer, list | tuple) else answer


def test_a_question_about_one_group_learns_nothing_of_others_from_any_verb_or_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASOF_EMBEDDER", "hash")
    data, command = tmp_path / "data", Asof(tmp_path / "data", capsys)
    asked = [(verb, given) for verb, recipes in VERBS.items() for given in recipes]
    lines = [line for verb, given in asked if (line := command_of(verb, given))]
    with asof.open(data, embedder="hash") as memory:
        memory.add("I live in Oslo.", role="Ana", group_id=OWN)
        memory.add("I work at Initech.", role="Ana", group_id=OWN)
        before = [answer_of(memory, verb, given) for verb, given in asked]
    printed = [printing(command, line) for line in lines]

    with asof.open(data, embedder="hash") as memory:
        for group in OTHERS:
            for text in SECRETS:
                memory.add(text, role="Ana", group_id=group)
        memory.search(CANARY, all_groups=True)
        after = [answer_of(memory, verb, given) for verb, given in asked]
    printed_after = [printing(command, line) for line in lines]

    assert len(lines) > 12
    for (verb, given), first, second in zip(asked, before, after, strict=True):
        assert first == second, (verb, given)
        assert CANARY not in second or CANARY in str(given), verb
    for line, one, other in zip(lines, printed, printed_after, strict=True):
        assert one == other, line


def command_of(verb: str, given: dict[str, Any]) -> list[str] | None:
    """Return the command line of a question; None where it is put or answered otherwise (a file, or pairs of times)."""
    if verb in {"what_if", "diff"} or given.get("format") == "parquet":
        return None
    if verb == "generations_diff":
        return ["generations", "diff", given["base"], given["other"], "--group", OWN, "--json"]
    arguments, options = [], []
    for name, value in given.items():
        if name in {"query", "name", "id"}:
            arguments.append(str(value))
        elif name in {"start", "stop"}:
            options += ["--from" if name == "start" else "--to", str(value)]
        else:
            options += [f"--{told(name).replace('_', '-')}", *([] if value is True else [str(value)])]
    if verb == "erasure_preview":
        return ["erase", OWN, "--dry-run", *options, "--json"]
    scope = [] if verb == "groups" else ["--group", OWN]
    as_json = [] if verb == "export" else ["--json"]
    return [verb.replace("_", "-"), *arguments, *options, *scope, *as_json]


def printing(command: Asof, line: list[str]) -> str:
    code = calls.run(app, [*line, "--data", str(command.data)])
    out, err = command._capsys.readouterr()
    assert code in {0, 1}, (line, err)
    positions = r"|(?<=Z\", )\"position\": \d+(?=, \"timezone\")"  # up to which message a context is
    return re.sub(r'"next": *("[^"]*"|\d+)' + positions, "", f"{code}{out}")
