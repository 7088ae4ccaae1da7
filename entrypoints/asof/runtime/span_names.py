"""The names of spans and their attributes, in one place: those of others may change.

`gen_ai.*` and `messaging.*` are OpenTelemetry's semantic conventions, whose state is "Development": the memory spans of
https://github.com/open-telemetry/semantic-conventions-genai as of November 2026, and the messaging spans of semantic
conventions 1.44. `ucotron.*` are the steps of the pipelines that asof implements,
by the names that their specification gives them. `asof.*` are asof's own.
"""

from collections.abc import Mapping
from typing import Final, Literal

# The memory spans of the conventions: the name of a span is that of its operation.

MemoryOperation = Literal["upsert_memory", "search_memory", "delete_memory"]

UPSERT: Final[MemoryOperation] = "upsert_memory"
SEARCH: Final[MemoryOperation] = "search_memory"
DELETE: Final[MemoryOperation] = "delete_memory"

OPERATION_NAME: Final = "gen_ai.operation.name"
STORE_ID: Final = "gen_ai.memory.store.id"  # the group
RECORD_ID: Final = "gen_ai.memory.record.id"
RECORD_COUNT: Final = "gen_ai.memory.record.count"
QUERY_TEXT: Final = "gen_ai.memory.query.text"  # content
RECORDS: Final = "gen_ai.memory.records"  # content

MEMORY_OPERATIONS: Final[Mapping[str, MemoryOperation]] = {
    **dict.fromkeys(("add", "state_fact", "state_entity", "state_identity"), UPSERT),
    **dict.fromkeys(("search", "context", "facts", "overlapping", "throughout", "fact", "why"), SEARCH),
    **dict.fromkeys(("entities", "entity", "neighbourhood", "communities", "episodes", "episode"), SEARCH),
    **dict.fromkeys(("timeline", "history", "known_history", "diff", "changes"), SEARCH),
    **dict.fromkeys(("contradictions", "objectives", "feedback"), SEARCH),
    **dict.fromkeys(("erase", "withdraw"), DELETE),
}
"""The operations of asof that the conventions have a name for; a span of another one is `asof.` and its own name."""

# The steps of the pipelines, by the names of what measures them.

INGESTION_STEPS: Final[Mapping[str, str]] = {
    "ner": "ucotron.ner",
    "chunking": "ucotron.chunk",
    "relation_extraction": "ucotron.relations",
    "entity_resolution": "ucotron.entity_resolution",
    "contradiction_detection": "ucotron.contradiction_detection",
    "graph_update": "ucotron.graph_update",
}
EMBED: Final = "ucotron.embed"
RETRIEVAL_STEPS: Final[Mapping[str, str]] = {
    "query_embedding_us": "ucotron.query_embed",
    "vector_search_us": "ucotron.vector_search",
    "entity_extraction_us": "ucotron.query_ner",
    "graph_expansion_us": "ucotron.graph_traverse",
    "community_selection_us": "ucotron.community",
    "reranking_us": "ucotron.rerank",
}

# Messaging.

MESSAGING_SYSTEM: Final = "messaging.system"
MESSAGING_OPERATION: Final = "messaging.operation.name"
MESSAGING_TYPE: Final = "messaging.operation.type"
DESTINATION: Final = "messaging.destination.name"
PARTITION: Final = "messaging.destination.partition.id"
BATCH: Final = "messaging.batch.message_count"

# HTTP: what the conventions call stable; a path or a query may be content, and is left out.

HTTP_METHOD: Final = "http.request.method"
HTTP_ROUTE: Final = "http.route"
HTTP_STATUS: Final = "http.response.status_code"
URL_SCHEME: Final = "url.scheme"

# Everywhere, and asof's own.

ERROR_TYPE: Final = "error.type"
INGEST: Final = "asof.ingest"
SEARCH_FACTS: Final = "asof.search_facts"
SEARCH_EPISODES: Final = "asof.search_episodes"
OPERATION: Final = "asof.operation"
VALID_AT: Final = "asof.valid_at"  # RFC 3339
KNOWN_AT: Final = "asof.known_at"  # RFC 3339
GENERATION: Final = "asof.generation"
POSITION: Final = "asof.position"  # of a message
LAG: Final = "asof.lag"  # messages on the log that the answer does not count yet
LAG_SECONDS: Final = "asof.lag_seconds"  # since a message was recorded
LEGS: Final = "asof.retrieval.legs"  # by what was searched: words, vectors
PROFILE: Final = "asof.retrieval.profile"
VECTORS_BEHIND: Final = "asof.retrieval.vectors_behind"
MESSAGE_TYPE: Final = "asof.message.type"
INGESTED: Final = "asof.ingest."  # before the name of a metric of ingestion: what the message came to
