"""Each operation has its verb in Python, its command and its route, or stands here with the reason."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from fastapi.routing import APIRoute

from asof import Memory
from asof.cli.commands import COMMANDS
from asof.http.routes import feed, generations, graphiti, groups, v1
from asof.operations.operation import Operation

ROUTE = {  # of an operation or a verb, where it is not called like it
    "history": "fact_history",
    "rebuild": "build",
    "estimate_rebuild": "estimate",
    "pause_build": "pause",
    "resume_build": "resume",
    "cancel_build": "cancel",
    "add": "add_messages",
    "produce": "add_messages",
    "state_fact": "state_facts",
    "import_facts": "state_facts",
    "end": "state_facts",
    "retract": "state_facts",
    "state_entity": "add_entity_node",
    "merge": "state_identity",
    "split": "state_identity",
    "alias": "state_identity",
    "unalias": "state_identity",
    "withdraw": "delete_episode",
    "active": "generations",
}
NO_ROUTE = {
    **dict.fromkeys(("backup", "checkout", "replay"), "it writes or calls what is on the machine of whoever asks"),
    "import_export": "it reads a file of that machine",
    **dict.fromkeys(("verify", "repair", "compress", "snapshot"), "whoever runs the service looks after its files"),
    "embed": "the service embeds by itself",
    **dict.fromkeys(("prompts", "register_prompt", "activate_prompt"), "whoever runs the bot writes its prompts"),
    "close": "it ends a client in Python, and nothing of the memory",
}
NO_VERB = {"state_identity": "in Python it is merge, split, alias and unalias"}
COMMAND = {
    **dict.fromkeys(("import_facts", "import_export"), "import"),
    "state_fact": "assert",
    **dict.fromkeys(("switch", "drop", "active", "generations_diff"), "generations"),
    **dict.fromkeys(("builds", "pause_build", "resume_build", "cancel_build"), "generations"),
    "estimate_rebuild": "rebuild",
    "erasure_preview": "erase",
    **dict.fromkeys(("register_prompt", "activate_prompt"), "prompts"),
}
NO_COMMAND = {
    "close": "a command closes what it opened",
    "state_identity": "of the command line it is merge, split, alias and unalias",
}


def operations() -> Iterator[str]:
    """Yield the name of each operation."""
    package = import_module("asof.operations")
    for found in iter_modules(package.__path__):
        module = import_module(f"{package.__name__}.{found.name}")
        yield from (name for name, value in vars(module).items() if isinstance(value, Operation))


VERBS = {name for name in vars(Memory) if not name.startswith("_")}
ASKED = VERBS | set(operations())
ROUTES = {
    route.name
    for module in (v1, generations, feed, graphiti, groups)
    for route in module.router.routes
    if isinstance(route, APIRoute)
}


def test_every_operation_has_its_verb() -> None:
    assert NO_VERB.keys() == ASKED - VERBS


def test_every_operation_has_its_command() -> None:
    assert {one for one in ASKED if COMMAND.get(one, one.replace("_", "-")) not in COMMANDS} == NO_COMMAND.keys()


def test_every_operation_has_its_route() -> None:
    assert {one for one in ASKED if ROUTE.get(one, one) not in ROUTES} == NO_ROUTE.keys()


def test_what_is_listed_is_there_and_needs_to_be_listed() -> None:
    for other, there in ((ROUTE, ROUTES), (COMMAND, COMMANDS)):
        assert other.keys() <= ASKED
        assert {one for one in other if one.replace("_", "-") in there or one in there} == set()
