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
    "chat": ("chat", "Talk with a bot that has this memory."),
    "add": ("writes", "Add one message."),
    "produce": ("batches", "Add messages given as JSON lines."),
    "import": (
        "batches",
        "Add structured facts given as JSON lines, or as CSV with a first line that names the columns.",
    ),
    "assert": ("writes", "State that a fact holds."),
    "end": ("writes", "State that a fact ended, or without an object whatever holds there."),
    "retract": ("writes", "State that a fact was never so."),
    "correct": ("writes", "Retract a fact, and state another one in its place."),
    "state-entity": ("writes", "State an entity under an id of your own."),
    "state-timezone": ("writes", "State the time zone that times in a group's messages are read by."),
    "read": ("extraction", "Read a text by the rules, and show what is found in it."),
    "ontology": ("ontology", "Check an ontology's file, say what changed in it, or try it."),
    "merge": ("curation", "State that two entities are one."),
    "split": ("curation", "State that two entities are two."),
    "alias": ("curation", "State that an entity has another name."),
    "unalias": ("curation", "Take back another name that was stated."),
    "withdraw": ("writes", "Withdraw an episode."),
    "erase": ("erasures", "Make everything of a group gone, or a part of it, for ever."),
    "facts": ("facts", "Ask which facts hold."),
    "fact": ("facts", "Ask for one fact by its id as it is believed now, the last of its periods."),
    "search": (
        "facts",
        "Find the facts that hold and fit a question best, and the turns that do, by words and by meaning.",
    ),
    "context": ("context", "Ask for what is known about a question, as one text for a prompt."),
    "overlapping": ("facts", "Ask which facts hold at some instant of a period [start, stop)."),
    "throughout": (
        "facts",
        "Ask what holds at every instant of a period [start, stop), said by one fact or by several that meet.",
    ),
    "why": ("facts", "Ask for the words that a fact rests on, and for those behind what became of it."),
    "what-if": ("facts", "Ask what would be believed if structured facts were imported now."),
    "entities": ("entities", "List the entities that are known, in the order of their introduction."),
    "entity": (
        "entities",
        "Ask for all that is known of everything that has a name: names, merges, attributes, facts.",
    ),
    "communities": ("entities", "List the communities that are known with their members, by when they were formed."),
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
        "List the contradictions that wait for a person, by when they were flagged.",
    ),
    "objectives": ("posts", "List what a group aims at, by the goals that it declared: the most salient first."),
    "feedback": ("posts", "List the feedback on messages of the bot, as it came."),
    "settle": ("curation", "Keep one fact of the contradictions that are open, and retract the others."),
    "parked": ("curation", "List the messages of which nothing could be made, or about which a model gave no answer."),
    "retry": ("curation", "Process messages again that were parked or failed."),
    "events": ("logs", "Replay a log as JSON lines."),
    "replay": ("replay", "Replay a log into another directory, a topic, or a projection of your own."),
    "message": ("logs", "Ask what became of a message."),
    "episodes": ("logs", "List episodes in the order in which they were recorded."),
    "episode": ("logs", "Ask for one episode by its id."),
    "groups": ("logs", "List the groups, in the order of their ids, with how much each holds."),
    "consolidate": ("consolidation", "Consolidate a group: communities, duplicates and decay, where facts changed."),
    "rebuild": ("generations", "Build a new generation beside the one that answers."),
    "generations": (
        "generations",
        "List generations, let another one answer, drop one, or see in which facts two of them differ.",
    ),
    "digest": ("generations", "Ask for the digest of a generation."),
    "embed": ("upkeep", "Make the vectors that facts, names and episodes lack."),
    "verify": ("upkeep", "Check every log and every projection."),
    "repair": ("upkeep", "Make again what verify finds damaged, each from the log before it."),
    "compress": ("upkeep", "Compress the older records of the logs."),
    "snapshot": ("upkeep", "Take a snapshot of each graph."),
    "backup": ("backup", "Write everything that cannot be made again into one file."),
    "restore": ("backup", "Make a directory of a backup, with all that follows from it."),
    "checkout": ("backup", "Make the directory as it was at a known moment."),
    "stats": ("upkeep", "Count what is there."),
    "usage": ("upkeep", "Ask what calls to language models have cost, by group, prompt and model."),
    "prompts": ("prompts", "List the prompts by which a bot speaks, write a version of one, or choose which is used."),
    "export": ("upkeep", "Write the graph out."),
    "doctor": ("upkeep", "Look at what asof needs and finds here."),
    "model": ("model", "Install the model that search compares meaning with, and verify it."),
    "serve": ("serve", "Serve a memory over HTTP, with the routes of Graphiti's server, until stopped."),
    "mcp": ("mcp", "Serve a memory to an agent over MCP, on standard input and output, until the input ends."),
    "discord": ("discord.command", "Talk on Discord with those who opted in, until stopped."),
    "completion": ("completion", "Print the script by which a shell completes commands and options."),
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

SECTIONS: Final = {  # of the help: the title, and the first command
    "Begin": "demo",
    "Write": "add",
    "Try what is understood": "read",
    "Say who is whom": "merge",
    "Take back": "withdraw",
    "Ask for facts": "facts",
    "Ask for entities": "entities",
    "Ask what changed": "history",
    "Look at what waits for a person": "contradictions",
    "Look at the logs": "events",
    "Keep it up": "consolidate",
    "Run services": "serve",
}

EXAMPLES: Final = {
    "demo": "asof demo",
    "chat": "asof chat --name Ana",
    "add": 'asof add "I moved to Berlin in March" --role Ana',
    "produce": "asof produce chat.jsonl --group team",
    "import": "asof import facts.jsonl --strict",
    "assert": "asof assert Ana lives_in Berlin --valid-at 2024-03-01",
    "end": "asof end Ana lives_in Berlin --invalid-at yesterday",
    "retract": "asof retract 1c8e2d4a",
    "correct": "asof correct Ana works_at Acme --ref 1c8e2d4a",
    "state-entity": 'asof state-entity staff-7 Ana --summary "She cooks."',
    "state-timezone": "asof state-timezone Europe/Berlin --group ana",
    "read": 'asof read "I moved to Berlin in March" --explain',
    "ontology": "asof ontology check kitchen.yaml",
    "merge": "asof merge Annie Ana",
    "split": "asof split Annie Ana",
    "alias": "asof alias Ana Annie",
    "unalias": "asof unalias Ana Annie",
    "withdraw": "asof withdraw 8e03978e",
    "erase": "asof erase ana --yes",
    "facts": 'asof facts --about Ana --valid-at "last May"',
    "fact": "asof fact 1c8e2d4a",
    "search": 'asof search "where does Ana live" --center Ana',
    "context": 'asof context "where does Ana live" --timezone Europe/Berlin --budget 1000',
    "overlapping": "asof overlapping --from 2023 --to 2024 --relation lives_in",
    "throughout": "asof throughout --from 2023-01 --to 2023-06 --about Ana",
    "why": "asof why 1c8e2d4a",
    "what-if": "asof what-if facts.jsonl",
    "entities": "asof entities --like Anna",
    "entity": "asof entity Ana",
    "communities": "asof communities",
    "neighbourhood": "asof neighbourhood Ana --hops 1",
    "history": 'asof history Ana --known-at "2 weeks ago"',
    "known-history": "asof known-history 1c8e2d4a",
    "timeline": "asof timeline Ana --relation lives_in",
    "diff": "asof diff --from 2023 --to now --about Ana --why",
    "changes": "asof changes --after 100",
    "contradictions": "asof contradictions",
    "objectives": "asof objectives --group team",
    "feedback": "asof feedback --withdrawn",
    "settle": "asof settle 1c8e2d4a",
    "parked": "asof parked",
    "retry": "asof retry 17",
    "events": "asof events --log messages --follow",
    "replay": "asof replay visits:Visits --pace 60",
    "message": "asof message 17",
    "episodes": "asof episodes --from yesterday",
    "episode": "asof episode 8e03978e",
    "groups": "asof groups --prefix team",
    "consolidate": "asof consolidate --dry-run",
    "rebuild": "asof rebuild --name second --ontology agent_memory_v1 --switch",
    "generations": "asof generations diff main second",
    "digest": "asof digest second",
    "embed": "asof embed --data ./asof-data",
    "verify": "asof verify --data ./asof-data",
    "repair": "asof repair --data ./asof-data",
    "compress": "asof compress --data ./asof-data",
    "snapshot": "asof snapshot --data ./asof-data",
    "backup": "asof backup monday.backup",
    "restore": "asof restore monday.backup tuesday.backup --data ./restored",
    "checkout": "asof checkout ./as-of-may --known-at 2024-05-31",
    "stats": "asof stats --json",
    "usage": "asof usage --all-groups",
    "prompts": "asof prompts register MAIN_CONVERSATION --template pirate.txt",
    "export": "asof export --format graphml --valid-at 2024-05-01 --output may.graphml",
    "doctor": "asof doctor",
    "model": "asof model pull",
    "serve": "asof serve --data ./asof-data --port 8000",
    "mcp": "asof mcp --data ./asof-data --group ana",
    "discord": "asof discord --data ./asof-data",
    "completion": "asof completion bash >> ~/.bashrc",
    "worker": "asof worker --kafka 127.0.0.1:9092 --data ./worker-data",
    "topics": "asof topics create --kafka 127.0.0.1:9092 --partitions 4",
    "graph": "asof graph copy --to arango",
}
"""A command line for each command."""

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
        example = f"Such as: {EXAMPLES[name]}" if name in EXAMPLES else None
        alone.command(name, epilog=example)(getattr(import_module(f"asof.cli.{module}"), function))
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
        """Write the list of commands, section by section."""
        del ctx
        titles = {first: title for title, first in SECTIONS.items()}
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, (_, sentence) in COMMANDS.items():
            title = titles.get(name) or [*sections][-1]
            sections.setdefault(title, []).append((name, sentence))
        width = max(map(len, COMMANDS))
        for title, listed in sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), sentence) for name, sentence in listed])
