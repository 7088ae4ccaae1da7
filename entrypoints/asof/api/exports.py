"""The names that `import asof` offers, each loaded when it is first used, so that the import stays quick."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asof.api.async_memory import AsyncMemory
    from asof.api.memory import Memory

NAMES = [
    "AccessDenied", "Added", "AsofError", "AsyncMemory", "Attribute", "Backup", "BackupLog", "Belief", "BeliefPeriod",
    "BrokerUnavailable", "BuildStopped", "Cause", "Change", "ChangeLine", "Changes", "Check", "Checkout", "Community",
    "CommunityChange", "CommunityConfig", "ComparisonPage", "ConflictConfig", "Consequence", "Consolidated",
    "Consolidation", "ConsolidationConfig", "Context", "ContractError", "Contradiction", "DamagedData", "DamagedFile",
    "DamagedLog", "DamagedView", "DecodeError", "Difference", "Done", "Effect", "Embedded", "EmptyMemory", "Entity",
    "EntityLine", "EntityOutline", "EntityProfile", "Episode", "EpisodeHit", "EpisodeLine", "EpisodeRecord", "Erased",
    "ErasedMessage", "Erasure", "ErasurePreview", "Evidence", "Explanation", "Fact", "FactLine", "FactVersion",
    "Feedback", "GenerationDifference", "GenerationInfo", "GraphSnapshot", "GraphUnavailable", "GroupInfo",
    "GroupRecords", "Hit", "Hits", "Hop", "Imported", "IngestionConfig", "IngestionReport", "IngestionTimes",
    "InvalidInput", "KeysUnavailable", "LeftOut", "Link", "LogCompression", "LogEvent", "Makers", "Memory",
    "ModelUnavailable", "ModelUsage", "NameMerge", "NodeName", "NotFound", "Objective", "Page", "Parked",
    "ParkedMessage", "PositionConflict", "Produced", "Projection", "PromptEstimate", "Queued", "RankedNode",
    "RebuildEstimate", "Refused", "RegisteredPrompt", "RelationDifferences", "Replay", "Retried", "Retrieval",
    "RetrievalMetrics", "Scores", "SearchedPage", "Segment", "Settled", "StorageFailed", "TopicUnfit",
    "UnavailableError", "UndoneConsolidation", "UnfinishedBuild", "WhatIf", "WorkerStalled", "WriterBusy",
    "__version__", "open", "open_async", "restore",
]  # fmt: skip
_ERRORS = (
    "AccessDenied", "AsofError", "BrokerUnavailable", "BuildStopped", "ContractError", "DamagedData", "DamagedFile",
    "DamagedLog", "DamagedView", "DecodeError", "EmptyMemory", "GraphUnavailable", "InvalidInput", "KeysUnavailable",
    "ModelUnavailable", "NotFound", "PositionConflict", "StorageFailed", "TopicUnfit", "UnavailableError",
    "WorkerStalled", "WriterBusy",
)  # fmt: skip
_OF_WRITES = (
    "Added", "CommunityChange", "Consolidated", "Consolidation", "Done", "Effect", "EpisodeRecord", "Erased",
    "ErasedMessage", "Erasure", "ErasurePreview", "GroupRecords", "Imported", "IngestionReport", "IngestionTimes",
    "NameMerge", "Parked", "Produced", "Queued", "Refused", "Retried", "Settled", "UndoneConsolidation",
)  # fmt: skip
_OF_CONTEXTS = ("ChangeLine", "Context", "EntityLine", "EntityOutline", "EpisodeLine", "FactLine", "LeftOut")
_OF_COMPARISONS = ("ComparisonPage", "GenerationDifference", "RelationDifferences")
_HOMES = {
    **dict.fromkeys(NAMES, "asof_projections.model.answers"),
    **dict.fromkeys(_OF_WRITES, "asof_projections.model.write_answers"),
    **dict.fromkeys(_OF_CONTEXTS, "asof_projections.model.contexts"),
    **dict.fromkeys(_OF_COMPARISONS, "asof_projections.model.comparisons"),
    **dict.fromkeys(_ERRORS, "asof_streams.errors"),
    **dict.fromkeys(("Backup", "BackupLog"), "asof.runtime.backup"),
    "Check": "asof.runtime.integrity",
    "Checkout": "asof.runtime.checkout",
    "LogCompression": "asof.runtime.log_compression",
    **dict.fromkeys(("Projection", "Replay"), "asof.runtime.replay"),
    "GenerationInfo": "asof_projections.generations",
    "Makers": "asof_projections.makers",
    "GraphSnapshot": "asof_projections.graph.sqlite_store.snapshots",
    **dict.fromkeys(("CommunityConfig", "ConsolidationConfig"), "asof_streams.consolidation_config"),
    **dict.fromkeys(("ConflictConfig", "IngestionConfig"), "asof_streams.ingestion_config"),
    **dict.fromkeys(("PromptEstimate", "RebuildEstimate", "UnfinishedBuild"), "asof_projections.model.builds"),
    "ModelUsage": "asof_projections.model.usage",
    "RegisteredPrompt": "asof_projections.model.prompts",
    "AsyncMemory": "asof.api.async_memory",
    "Memory": "asof.api.memory",
}


def open(data: str | Path | None = None, **settings: Any) -> "Memory":  # noqa: A001 - asof.open reads well
    """Open the memory in a directory (default: ASOF_DATA or ./asof-data), making it at the first write.

    `settings` are those of docs/reference/settings.md, such as ontology="agent_memory_v1" or embedder="none".
    InvalidInput names a setting that cannot be.
    """
    from asof.api.memory import Memory
    from asof.settings import read

    chosen = read(**settings) if data is None else read(data=Path(data), **settings)
    return Memory(chosen)


def open_async(data: str | Path | None = None, **settings: Any) -> "AsyncMemory":
    """Open the memory in a directory for a program with an event loop: the same verbs, each to be awaited.

    The work is done by one thread of its own, so no verb blocks the loop. Settings and errors are those of `open`.
    """
    from asof.api.async_memory import AsyncMemory

    return AsyncMemory(lambda: open(data, **settings))


def restore(
    *files: str | Path, data: str | Path | None = None, snapshots: str | Path | None = None, **settings: Any
) -> None:
    """Make the directory `data` of a backup and those that continue it, in order, with all that follows from them.

    snapshots: a directory with snapshots of its graphs, such as the one that was backed up. Graphs are made of these
    and the rest of their logs, where they fit, instead of the whole logs. InvalidInput: there is none, `data` is not
    empty, or a backup does not continue the one before it. DamagedFile: one of them is not what was written. Nothing is
    left of a restore that fails.

        asof.restore("monday.backup", "tuesday.backup", data="./restored")
    """
    from asof.operations.backup import restore as restore_backups
    from asof.settings import read

    chosen = read(**settings) if data is None else read(data=Path(data), **settings)
    restore_backups(chosen, [Path(file) for file in files], None if snapshots is None else Path(snapshots))


def __getattr__(name: str) -> Any:
    """Load what is exported when it is first used, so that `import asof` stays quick."""
    if name == "__version__":
        from asof_streams.distribution import version

        return version()
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'asof' has no attribute {name!r}")
