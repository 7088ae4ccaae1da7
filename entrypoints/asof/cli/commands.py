"""The commands of `asof`. One is imported when it is invoked or described, so that the list of them comes at once."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Final

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from typer._click.core import Context
    from typer._click.formatting import HelpFormatter

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "demo": ("demo", "Show what it is for: a story of two years."),
    "add": ("writes", "Add one message."),
    "produce": ("batches", "Add messages given as JSON lines."),
    "import": ("batches", "Add structured facts given as JSON lines."),
    "assert": ("writes", "State that a fact holds."),
    "end": ("writes", "State that a fact ended, or without an object whatever holds there."),
    "retract": ("writes", "State that a fact was never so."),
    "correct": ("writes", "Retract a fact, and state another one in its place."),
    "state-entity": ("writes", "State an entity under an id of your own."),
    "merge": ("curation", "State that two entities are one."),
    "split": ("curation", "State that two entities are two."),
    "alias": ("curation", "State that an entity has another name."),
    "unalias": ("curation", "Take back another name that was stated."),
    "withdraw": ("writes", "Withdraw an episode."),
    "erase": ("writes", "Make everything of a group gone, for ever."),
    "facts": ("facts", "Ask which facts hold."),
    "fact": ("facts", "Ask for one fact by its id, as it is believed now; of several periods the last."),
    "search": ("facts", "Find the facts that hold and fit a question best, by words and by meaning."),
    "overlapping": ("facts", "Ask which facts hold at some instant of a period [start, stop)."),
    "throughout": (
        "facts",
        "Ask what holds at every instant of a period [start, stop), said by one fact or by several that meet.",
    ),
    "why": ("facts", "Ask for the words that a fact rests on, and for those behind what became of it."),
    "what-if": ("facts", "Ask what would be believed if structured facts were imported now."),
    "entities": ("entities", "List the entities that are known, those introduced first first."),
    "entity": (
        "entities",
        "Ask for all that is known of everything that has a name: names, merges, attributes, facts.",
    ),
    "communities": ("entities", "List the communities that are known with their members, those formed first first."),
    "neighbourhood": ("entities", "Ask for the facts around a name, step by step away from it."),
    "history": (
        "history",
        "Ask for every version of a fact (by id) or of an entity's facts (by name), with what made each.",
    ),
    "known-history": ("history", "Ask when a fact was believed."),
    "timeline": ("history", "Ask what held of an entity and when: slot by slot, gaps included."),
    "diff": ("history", "Ask what differs between two points (valid, known), each change under one label."),
    "changes": ("history", "Ask what messages changed, in their order."),
    "contradictions": (
        "curation",
        "List the contradictions that wait for a person, those flagged first first.",
    ),
    "settle": ("curation", "Keep one fact of the contradictions that are open, and retract the others."),
    "parked": ("curation", "List the messages of which nothing could be made, in the order of the log."),
    "events": ("logs", "Replay a log as JSON lines."),
    "message": ("logs", "Ask what became of a message."),
    "episodes": ("logs", "List episodes in the order in which they were recorded."),
    "episode": ("logs", "Ask for one episode by its id."),
    "groups": ("logs", "List the groups, in the order of their ids, with how much each holds."),
    "rebuild": ("generations", "Build a new generation beside the one that answers."),
    "generations": ("generations", "List generations, let another one answer, drop one."),
    "digest": ("generations", "Ask for the digest of a generation."),
    "verify": ("upkeep", "Check every log and every projection."),
    "repair": ("upkeep", "Make again what verify finds damaged, each from the log before it."),
    "stats": ("upkeep", "Count what is there."),
    "export": ("upkeep", "Write the graph out."),
    "doctor": ("upkeep", "Look at what asof needs and finds here."),
    "serve": ("serve", "Serve a memory over HTTP, with the routes of Graphiti's server, until stopped."),
    "worker": ("kafka", "Process messages from Kafka until stopped."),
    "topics": (
        "kafka",
        "Check the topics on Kafka, create those that are not there, or see how far a directory has read them.",
    ),
    "graph": (
        "graph",
        "Check the graphs in the graph database against the memory, make them where there are none, or copy them.",
    ),
}
"""Each command: the module of `asof.cli` that has it, and the first sentence of its help."""

STYLE: Final[dict[str, Any]] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class _Commands(Mapping[str, Any]):
    """The commands by name, each imported when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        module, _ = COMMANDS[name]
        function = name.replace("-", "_") + "_" * iskeyword(name)
        alone = typer.Typer(**STYLE)
        alone.command(name)(getattr(import_module(f"asof.cli.{module}"), function))
        return typer.main.get_command(alone)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class CommandGroup(TyperGroup):
    """The group of all commands, whose list imports none of them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = _Commands()

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the list of commands."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, sentence) for name, (_, sentence) in COMMANDS.items()])
