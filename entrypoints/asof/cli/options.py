"""The options that are no fields of a query, each defined once."""

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="The memory's directory: ./asof-data, or what ASOF_DATA says."),
]
Settings = Annotated[
    Path | None,
    typer.Option("--settings", metavar="FILE", help="A TOML file of settings that you trust, not ./asof.toml."),
]
Kafka = Annotated[
    str | None,
    typer.Option("--kafka", metavar="HOST:PORT", help="Kafka's brokers, with commas between: what ASOF_KAFKA says."),
]
Graph = Annotated[
    Literal["sqlite", "arango"] | None,
    typer.Option("--graph", help="What answers: files, or ArangoDB. Left out, ArangoDB if ASOF_GRAPH_URL is set."),
]
Prefix = Annotated[
    str | None,
    typer.Option("--prefix", metavar="NAME", help="Of their names: asof, or what ASOF_KAFKA_PREFIX says."),
]
Explain = Annotated[bool, typer.Option("--explain", help="Show how the answer comes about.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
File = Annotated[str, typer.Argument(metavar="FILE", help="One JSON object a line; - is standard input.")]
Group = Annotated[str, typer.Option("--group", metavar="ID", help="The group of the lines that name none.")]
Strict = Annotated[bool, typer.Option("--strict", help="Take no line if any is refused.")]
Partition = Annotated[
    int | None, typer.Option("--partition", min=0, metavar="P", help="Whose log, where the topics have several.")
]

SETTINGS: Final = {"kafka": Kafka, "kafka_prefix": Prefix, "graph": Graph}
"""The options that set one setting, by its name."""
