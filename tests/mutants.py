"""Changes one thing at a time in the modules that the criteria are about; a change that no test notices is printed.

    python tests/mutants.py [MODULE ...]      as `make mutants`; without modules, all of MODULES

`--most 20` tries twenty changes of each module, spread over it. A change is tried by the tests of its module that come
to its line. It works in a copy of the tree, and ends with 1 if a change was not noticed that is not one of EQUAL, or
was not tried: its tests were killed, or waited too long on a busy machine, as they did without it.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mutation import Tests

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCES: Final = ("streams", "ontologies", "projections", "agents", "entrypoints")
_DOUBTS: Final = (
    "tests/unit/test_judge.py",
    "tests/unit/test_resolution.py",
    "tests/integration/test_resolution_by_model.py",
    "tests/integration/test_resolution_by_vectors.py::test_what_is_not_near_is_of_another_type_a_value_or_another_number_is_not_asked_about",
    "tests/integration/test_resolution_by_vectors.py::test_the_likeliest_are_those_most_alike_or_nearest_and_of_equally_near_ones_the_oldest",
)
_STATED: Final = (
    "tests/unit/test_facts_agent.py",
    "tests/unit/test_occurrence_periods.py",
    "tests/unit/test_withdrawals.py",
    "tests/unit/test_graded_policy.py",
    "tests/unit/test_identities_agent.py",
    "tests/unit/test_golden_events.py",
)
_SAID: Final = (
    "tests/integration/test_deeds.py",
    "tests/integration/test_endings_of_what_holds.py",
    "tests/integration/test_unstated_starts.py",
)
_BELIEF: Final = (
    *_STATED,
    "tests/unit/test_resolution.py",
    "tests/unit/test_readers.py",
    "tests/unit/test_ingestion.py",
    "tests/unit/test_restatements.py",
    "tests/unit/test_attributes_agent.py",
    "tests/unit/test_communities_agent.py",
    *_SAID,
    "tests/integration/test_endings_by_model.py",
    "tests/hostile/test_failing_models.py",
)
_LOG: Final = (
    "tests/unit/test_sealer.py",
    "tests/contract/test_event_log.py",
    "tests/contract/test_encrypted_log.py",
    "tests/contract/test_damaged_log.py",
    "tests/contract/test_requests.py",
    "tests/contract/test_compression.py",
    "tests/hostile/test_redaction.py::test_a_group_answers_as_if_what_was_erased_of_it_had_never_been_said",
    "tests/hostile/test_redaction.py::test_where_content_is_encrypted_no_older_backup_can_be_made_to_say_it",
)
_ASKED: Final = (
    "tests/contract/test_graph_store.py",
    "tests/unit/test_query_plans.py",
)
_FACTS: Final = (
    "tests/contract/test_graph_store.py",
    "tests/unit/test_query_plans.py",
    "tests/unit/test_questions.py",
)
_STORE: Final = (
    "tests/contract/test_graph_store.py",
    "tests/unit/test_event_projector.py",
    "tests/unit/test_query_plans.py",
    "tests/unit/test_recent_turns.py",
    "tests/unit/test_writer_lookups.py",
)
_VIEWS: Final = (
    "tests/contract/test_graph_store.py",
    "tests/unit/test_consolidation.py",
    "tests/unit/test_posts.py",
    "tests/unit/test_query_plans.py",
    "tests/unit/test_readers.py",
    "tests/unit/test_recent_turns.py",
    "tests/unit/test_timezones.py",
    "tests/unit/test_withdrawals.py",
    "tests/unit/test_writer_lookups.py",
)
MODULES: Final[dict[str, tuple[str, ...]]] = {
    # adding messages: the message, its way in, and what becomes of one that fails
    "streams/asof_streams/messages.py": (
        "tests/unit/test_messages.py",
        "tests/unit/test_events.py",
        "tests/unit/test_golden_events.py",
        "tests/unit/test_inbox.py",
    ),
    "streams/asof_streams/ids.py": (
        "tests/unit/test_ids.py",
        "tests/unit/test_messages.py",
        "tests/unit/test_identities_agent.py",
    ),
    "streams/asof_streams/instants.py": (
        "tests/unit/test_instants.py",
        "tests/unit/test_times_in_words.py",
    ),
    "streams/asof_streams/timezones.py": (
        "tests/unit/test_timezones.py",
        "tests/unit/test_instants.py",
        "tests/unit/test_granules.py",
        "tests/unit/test_checkins.py",
    ),
    "streams/asof_streams/literals.py": ("tests/unit/test_literals.py",),
    "entrypoints/asof/service/intake.py": ("tests/unit/test_http_intake.py",),
    "agents/asof_agents/engine.py": (
        "tests/unit/test_engine.py",
        "tests/unit/test_readers.py",
        "tests/unit/test_ingestion.py",
        "tests/unit/test_checkpoints.py",
        "tests/unit/test_timezones.py",
        "tests/unit/test_withdrawals.py",
        "tests/hostile/test_messages_at_fault.py",
        "tests/hostile/test_failing_models.py",
        "tests/hostile/test_redaction.py::test_a_group_answers_as_if_what_was_erased_of_it_had_never_been_said",
    ),
    "agents/asof_agents/parking.py": (
        "tests/unit/test_consolidation.py::test_a_phase_that_fails_stops_no_other_and_is_a_warning",
        "tests/unit/test_readers.py",
        "tests/hostile/test_messages_at_fault.py",
        "tests/hostile/test_failing_models.py",
    ),
    "agents/asof_agents/redaction.py": (
        "tests/hostile/test_redaction.py::test_a_group_answers_as_if_what_was_erased_of_it_had_never_been_said",
        "tests/hostile/test_redaction.py::test_a_structured_fact_and_what_was_parked_or_withdrawn_are_erased_too",
        "tests/hostile/test_redaction.py::test_a_second_erasure_and_one_of_the_whole_group_find_nothing_of_the_first",
        "tests/hostile/test_redaction.py::test_a_message_whose_content_was_not_kept_stays_as_it_was_read",
        "tests/unit/test_posts.py",
        "tests/unit/test_timezones.py",
    ),
    "agents/asof_agents/retry.py": (
        "tests/unit/test_timezones.py",
        "tests/unit/test_recent_turns.py",
        "tests/unit/test_withdrawals.py",
        "tests/hostile/test_messages_at_fault.py",
        "tests/hostile/test_failing_models.py",
    ),
    "agents/asof_agents/handlers/admission.py": (
        "tests/unit/test_readers.py",
        "tests/unit/test_episodes_agent.py",
        "tests/unit/test_ingestion.py",
    ),
    "agents/asof_agents/handlers/episodes.py": (
        "tests/unit/test_episodes_agent.py",
        "tests/unit/test_posts.py",
        "tests/unit/test_withdrawals.py",
        "tests/unit/test_readers.py",
        "tests/unit/test_identities_agent.py",
        "tests/unit/test_timezones.py",
    ),
    "agents/asof_agents/handlers/posts.py": ("tests/unit/test_posts.py",),
    "agents/asof_agents/handlers/identities.py": ("tests/unit/test_identities_agent.py",),
    "agents/asof_agents/handlers/entities.py": (
        "tests/unit/test_entities_agent.py",
        "tests/unit/test_identities_agent.py",
        "tests/unit/test_withdrawals.py",
    ),
    "agents/asof_agents/handlers/chat_periods.py": ("tests/unit/test_chat_statements.py",),
    "agents/asof_agents/handlers/chat_statements.py": (
        "tests/unit/test_chat_statements.py",
        "tests/unit/test_judged_statements.py",
    ),
    "agents/asof_agents/handlers/value_slots.py": ("tests/unit/test_chat_statements.py",),
    "agents/asof_agents/handlers/lifted_rules.py": ("tests/unit/test_lifted_rules.py",),
    "agents/asof_agents/handlers/facts.py": _BELIEF,
    "agents/asof_agents/handlers/invalidations.py": (*_STATED, *_SAID),
    "agents/asof_agents/handlers/endings.py": _BELIEF,
    "agents/asof_agents/handlers/statement_writer.py": (*_STATED, *_SAID),
    "agents/asof_agents/handlers/attributes.py": (
        "tests/unit/test_attributes_agent.py",
        "tests/unit/test_attribute_types.py",
    ),
    "agents/asof_agents/handlers/communities.py": (
        "tests/unit/test_communities_agent.py",
        "tests/unit/test_consolidation.py",
    ),
    "agents/asof_agents/handlers/withdrawals.py": (
        *_STATED,
        "tests/unit/test_posts.py",
        "tests/unit/test_consolidation.py",
    ),
    "agents/asof_agents/handlers/structured_facts.py": (*_STATED, *_SAID),
    "agents/asof_agents/handlers/unstated_starts.py": (
        "tests/integration/test_unstated_starts.py",
        "tests/integration/test_endings_of_what_holds.py",
    ),
    "agents/asof_agents/handlers/extraction_copy.py": ("tests/unit/test_extraction_copy.py",),
    "agents/asof_agents/handlers/long_changes.py": ("tests/unit/test_long_changes.py",),
    "agents/asof_agents/handlers/objectives.py": ("tests/unit/test_objectives.py",),
    "agents/asof_agents/handlers/usual_facts.py": ("tests/property/test_usual_facts.py", *_STATED),
    "agents/asof_agents/resolution/entities.py": (
        *_DOUBTS,
        "tests/unit/test_ingestion.py",
        "tests/integration/test_resolution_by_vectors.py::test_a_retry_asks_again_about_a_name_that_is_near_in_meaning",
        "tests/hostile/test_failing_models.py::test_names_are_resolved_without_their_embedder_and_a_rebuild_agrees",
        "tests/hostile/test_unexpected_faults.py::test_a_message_that_a_generation_fails_at_is_parked_there_alone",
    ),
    "agents/asof_agents/resolution/candidates.py": ("tests/unit/test_candidates.py", *_DOUBTS),
    "agents/asof_agents/resolution/episode_resolver.py": ("tests/unit/test_episode_resolver.py",),
    "agents/asof_agents/resolution/one_message.py": ("tests/unit/test_names_in_one_message.py",),
    "agents/asof_agents/resolution/open_facts.py": ("tests/unit/test_open_facts.py",),
    "agents/asof_agents/resolution/structure.py": ("tests/unit/test_structure.py",),
    "agents/asof_agents/resolution/wordings.py": ("tests/unit/test_wordings.py",),
    "agents/asof_agents/resolution/exact.py": (
        "tests/unit/test_resolution.py",
        "tests/unit/test_entities_agent.py",
    ),
    "agents/asof_agents/resolution/judge.py": (
        *_DOUBTS,
        "tests/integration/test_endings_by_model.py",
        "tests/hostile/test_failing_models.py::test_names_are_resolved_without_their_embedder_and_a_rebuild_agrees",
    ),
    "agents/asof_agents/extraction/registry.py": (
        "tests/unit/test_readers.py",
        "tests/unit/test_kept_ontologies.py",
        "tests/unit/test_attribute_types.py",
    ),
    "agents/asof_agents/extraction/documents.py": ("tests/unit/test_documents.py",),
    "agents/asof_agents/extraction/attribute_values.py": ("tests/unit/test_attribute_types.py",),
    "agents/asof_agents/extraction/hybrid.py": ("tests/unit/test_hybrid.py",),
    "agents/asof_agents/extraction/llm/budget.py": ("tests/unit/test_model_budget.py",),
    "agents/asof_agents/extraction/llm/extractor.py": ("tests/unit/test_model_requests.py",),
    "agents/asof_agents/extraction/llm/schemas.py": (
        "tests/unit/test_open_facts.py",
        "tests/unit/test_model_answers.py",
    ),
    "agents/asof_agents/extraction/llm/usage.py": ("tests/unit/test_model_budget.py",),
    "agents/asof_agents/extraction/replies.py": ("tests/unit/test_answer_events.py",),
    "agents/asof_agents/extraction/llm/answers.py": (
        "tests/unit/test_model_answers.py",
        "tests/unit/test_attribute_types.py",
    ),
    "agents/asof_agents/extraction/llm/chat_model.py": ("tests/unit/test_chat_model.py",),
    "agents/asof_agents/extraction/llm/journal.py": (
        "tests/unit/test_journal.py",
        "tests/unit/test_chat_model.py",
    ),
    # the message queue: order, retries, what is parked, and the logs
    "streams/asof_streams/backoff.py": ("tests/unit/test_backoff.py",),
    "agents/asof_agents/partition_task.py": ("tests/unit/test_lanes.py",),
    "streams/asof_streams/kafka/inbox.py": ("tests/unit/test_inbox.py",),
    "streams/asof_streams/kafka/envelope.py": (
        "tests/unit/test_envelope.py",
        "tests/unit/test_inbox.py",
        "tests/unit/test_record_sealer.py",
    ),
    "streams/asof_streams/kafka/fence.py": ("tests/property/test_fence.py",),
    "streams/asof_streams/chain.py": (
        "tests/unit/test_log.py",
        "tests/contract/test_event_log.py",
    ),
    "streams/asof_streams/sqlite_log.py": _LOG,
    "streams/asof_streams/sqlite_records.py": _LOG,
    "streams/asof_streams/recorded_times.py": ("tests/unit/test_recorded_times.py",),
    "streams/asof_streams/sqlite_requests.py": _LOG,
    "streams/asof_streams/key_store.py": (
        "tests/unit/test_key_store.py",
        "tests/unit/test_sealer.py",
        "tests/contract/test_encrypted_log.py",
    ),
    "streams/asof_streams/record_sealer.py": (
        "tests/unit/test_record_sealer.py",
        "tests/unit/test_inbox.py",
        "tests/contract/test_encrypted_log.py",
    ),
    "streams/asof_streams/key_tree.py": ("tests/unit/test_key_tree.py",),
    "streams/asof_streams/compression.py": ("tests/contract/test_compression.py",),
    "streams/asof_streams/block.py": ("tests/contract/test_compression.py",),
    "projections/asof_projections/projector.py": (
        "tests/contract/test_projector.py",
        "tests/contract/test_snapshots.py",
    ),
    # the episodic graph: turns, mentions, and a conversation made again of them
    "agents/asof_agents/handlers/mentions.py": (
        "tests/unit/test_mentions_agent.py",
        "tests/unit/test_export.py",
        "tests/integration/test_deeds.py",
        "tests/unit/test_occurrence_periods.py",
        "tests/unit/test_timezones.py",
    ),
    "projections/asof_projections/queries/export.py": ("tests/unit/test_export.py",),
    "projections/asof_projections/queries/export_turns.py": (
        "tests/unit/test_export_turns.py",
        "tests/unit/test_export.py",
    ),
    "projections/asof_projections/queries/fact_table.py": (
        "tests/unit/test_written_forms.py",
        "tests/integration/test_export_forms.py",
    ),
    "projections/asof_projections/queries/graphml.py": (
        "tests/unit/test_written_forms.py",
        "tests/unit/test_export.py",
    ),
    "projections/asof_projections/queries/json_ld.py": (
        "tests/unit/test_written_forms.py",
        "tests/integration/test_export_forms.py",
    ),
    "projections/asof_projections/queries/mermaid.py": (
        "tests/unit/test_written_forms.py",
        "tests/integration/test_export_forms.py",
    ),
    "projections/asof_projections/queries/parquet.py": (
        "tests/unit/test_written_forms.py",
        "tests/integration/test_export_forms.py",
    ),
    "projections/asof_projections/graph/sqlite_store/event_projector.py": (
        *_STORE,
        "tests/unit/test_statement_codec.py",
    ),
    "projections/asof_projections/graph/sqlite_store/communities.py": _STORE,
    "projections/asof_projections/graph/sqlite_store/name_numbers.py": _STORE,
    "projections/asof_projections/graph/sqlite_store/row_ids.py": _STORE,
    "projections/asof_projections/graph/sqlite_store/scans.py": (*_STORE, "tests/unit/test_digest.py"),
    "projections/asof_projections/graph/sqlite_store/statement_codec.py": ("tests/unit/test_statement_codec.py",),
    "projections/asof_projections/graph/sqlite_store/base.py": _STORE,
    "projections/asof_projections/graph/sqlite_store/details.py": _STORE,
    "projections/asof_projections/graph/sqlite_store/columns.py": _STORE,
    "projections/asof_projections/graph/sqlite_store/generational_cache.py": ("tests/unit/test_generational_cache.py",),
    "projections/asof_projections/graph/sqlite_store/write_buffer.py": (
        "tests/unit/test_event_projector.py",
        "tests/unit/test_write_buffer.py",
    ),
    "projections/asof_projections/graph/sqlite_store/version_cache.py": (
        "tests/contract/test_graph_store.py",
        "tests/unit/test_event_projector.py",
        "tests/unit/test_version_cache.py",
    ),
    "projections/asof_projections/graph/sqlite_store/facts.py": _FACTS,
    "projections/asof_projections/graph/sqlite_store/views.py": _VIEWS,
    "projections/asof_projections/graph/sqlite_store/episode_reader.py": (
        "tests/unit/test_episode_reader.py",
        "tests/unit/test_turns.py",
    ),
    "projections/asof_projections/graph/sqlite_store/fts.py": (
        "tests/contract/test_graph_store.py",
        "tests/unit/test_turns.py",
        "tests/unit/test_words.py",
    ),
    "projections/asof_projections/graph/sqlite_store/identities.py": _ASKED,
    "projections/asof_projections/graph/sqlite_store/post_projector.py": (
        "tests/contract/test_graph_store.py",
        "tests/unit/test_episode_reader.py",
        "tests/unit/test_posts.py",
        "tests/unit/test_query_plans.py",
    ),
    "projections/asof_projections/graph/sqlite_store/checkpoints.py": ("tests/unit/test_checkpoints.py",),
    "projections/asof_projections/graph/sqlite_store/inspection.py": (
        "tests/contract/test_snapshots.py",
        "tests/hostile/test_inspection.py::test_a_directory_that_is_whole_is_said_to_be_whole",
        "tests/hostile/test_inspection.py::test_damage_is_reported_and_repaired_from_the_log_before_it",
        "tests/unit/test_store_inspection.py",
    ),
    "projections/asof_projections/graph/sqlite_store/schema.py": (
        "tests/contract/test_graph_store.py",
        "tests/contract/test_snapshots.py",
        "tests/hostile/test_foreign_directories.py",
        "tests/unit/test_query_plans.py",
    ),
    "projections/asof_projections/graph/sqlite_store/snapshots.py": (
        "tests/contract/test_snapshots.py",
        "tests/integration/test_snapshots.py::test_a_restored_directory_makes_its_graphs_of_the_snapshots_that_fit",
    ),
    "projections/asof_projections/graph/sqlite_store/store.py": (
        "tests/contract/test_graph_store.py",
        "tests/contract/test_projector.py",
        "tests/contract/test_snapshots.py",
        "tests/unit/test_bulk_load.py",
        "tests/unit/test_checkpoints.py",
        "tests/unit/test_query_plans.py",
        "tests/unit/test_recent_turns.py",
        "tests/unit/test_sqlite_graph.py",
        "tests/unit/test_writer_lookups.py",
    ),
    "projections/asof_projections/graph/sqlite_store/posts.py": (
        "tests/contract/test_graph_store.py",
        "tests/unit/test_posts.py",
    ),
    "projections/asof_projections/graph/sqlite_store/bm25.py": (
        "tests/contract/test_graph_store.py",
        "tests/unit/test_words.py",
    ),
    "projections/asof_projections/graph/sqlite_store/plateaus.py": ("tests/unit/test_plateaus.py",),
    "projections/asof_projections/graph/sqlite_store/postings.py": ("tests/unit/test_postings.py",),
    "projections/asof_projections/graph/sqlite_store/turns.py": ("tests/unit/test_turns.py",),
    "projections/asof_projections/graph/sqlite_store/traversal.py": ("tests/unit/test_questions.py",),
    "projections/asof_projections/graph/sqlite_store/attributes.py": (
        "tests/contract/test_graph_store.py",
        "tests/unit/test_attributes_agent.py",
    ),
    "projections/asof_projections/graph/sqlite_store/history.py": (
        "tests/contract/test_graph_store.py",
        "tests/unit/test_consolidation.py",
        "tests/unit/test_questions.py",
        "tests/unit/test_comparison.py",
    ),
    "projections/asof_projections/graph/sqlite_store/group_speakers.py": (
        "tests/unit/test_recent_turns.py",
        "tests/unit/test_mentions_agent.py",
        "tests/unit/test_turns.py",
    ),
    "projections/asof_projections/graph/sqlite_store/turn_cache.py": (
        "tests/unit/test_recent_turns.py",
        "tests/unit/test_mentions_agent.py",
        "tests/unit/test_turns.py",
    ),
    "projections/asof_projections/graph/sqlite_store/recent_turns.py": (
        "tests/unit/test_recent_turns.py",
        "tests/unit/test_mentions_agent.py",
        "tests/unit/test_turns.py",
    ),
    "agents/asof_agents/extraction/turns.py": (
        "tests/unit/test_mentions_agent.py",
        "tests/unit/test_context.py",
        "tests/unit/test_readers.py",
        "tests/unit/test_timezones.py",
        "tests/unit/test_documents.py",
    ),
    # retrieval
    "projections/asof_projections/retrieval/pipeline/answers.py": (
        "tests/unit/test_retrieval_pipeline.py",
        "tests/unit/test_retrieval_ranking.py",
    ),
    "projections/asof_projections/retrieval/pipeline/configuration.py": (
        "tests/unit/test_retrieval_pipeline.py",
        "tests/unit/test_retrieval_ranking.py",
    ),
    "projections/asof_projections/retrieval/pipeline/expansion.py": (
        "tests/unit/test_retrieval_pipeline.py",
        "tests/unit/test_retrieval_ranking.py",
    ),
    "projections/asof_projections/retrieval/pipeline/graph.py": (
        "tests/unit/test_retrieval_pipeline.py",
        "tests/unit/test_retrieval_ranking.py",
    ),
    "projections/asof_projections/retrieval/pipeline/mindset.py": (
        "tests/unit/test_retrieval_pipeline.py",
        "tests/unit/test_retrieval_ranking.py",
    ),
    "projections/asof_projections/retrieval/pipeline/nodes.py": (
        "tests/unit/test_retrieval_pipeline.py",
        "tests/unit/test_retrieval_ranking.py",
    ),
    "projections/asof_projections/retrieval/pipeline/prompt_text.py": (
        "tests/unit/test_retrieval_pipeline.py",
        "tests/unit/test_retrieval_ranking.py",
    ),
    "projections/asof_projections/retrieval/pipeline/query_entities.py": (
        "tests/unit/test_retrieval_pipeline.py",
        "tests/unit/test_retrieval_ranking.py",
    ),
    "projections/asof_projections/retrieval/pipeline/reranker.py": (
        "tests/unit/test_retrieval_pipeline.py",
        "tests/unit/test_retrieval_ranking.py",
    ),
    "projections/asof_projections/retrieval/pipeline/search.py": (
        "tests/unit/test_retrieval_pipeline.py",
        "tests/unit/test_retrieval_ranking.py",
    ),
    "projections/asof_projections/retrieval/pipeline/seeds.py": (
        "tests/unit/test_retrieval_pipeline.py",
        "tests/unit/test_retrieval_ranking.py",
    ),
    "projections/asof_projections/retrieval/rule_scopes.py": ("tests/unit/test_rule_scopes.py",),
    # ingestion
    "streams/asof_streams/ingestion_config.py": (
        "tests/unit/test_ingestion.py",
        "tests/unit/test_graded_policy.py",
    ),
    "projections/asof_projections/sentences.py": (
        "tests/unit/test_sentences.py",
        "tests/unit/test_ingestion.py",
    ),
    "projections/asof_projections/confidence.py": (
        "tests/unit/test_ingestion.py",
        "tests/unit/test_graded_policy.py",
    ),
    "projections/asof_projections/queries/reports.py": ("tests/unit/test_ingestion.py",),
    "projections/asof_projections/queries/conflicts.py": ("tests/unit/test_export.py",),
    "projections/asof_projections/queries/comparison.py": ("tests/unit/test_comparison.py",),
    "projections/asof_projections/queries/consistent_read.py": ("tests/unit/test_evidence.py",),
    "projections/asof_projections/queries/diffs.py": (
        "tests/unit/test_diffs.py",
        "tests/unit/test_questions.py",
    ),
    "projections/asof_projections/queries/effects.py": (
        "tests/unit/test_message_effects.py",
        "tests/integration/test_effects.py",
    ),
    "projections/asof_projections/queries/evidence.py": (
        "tests/unit/test_evidence.py",
        "tests/unit/test_questions.py",
    ),
    "projections/asof_projections/queries/summaries.py": (
        "tests/unit/test_summaries.py",
        "tests/unit/test_export.py",
    ),
    "projections/asof_projections/queries/temporal.py": ("tests/unit/test_questions.py",),
    "projections/asof_projections/queries/timelines.py": (
        "tests/unit/test_diffs.py",
        "tests/unit/test_questions.py",
    ),
    "agents/asof_agents/handlers/policies.py": (
        "tests/unit/test_graded_policy.py",
        "tests/unit/test_ingestion.py",
    ),
    "agents/asof_agents/handlers/granules.py": (
        "tests/unit/test_granules.py",
        "tests/unit/test_ingestion.py",
    ),
    "agents/asof_agents/meter.py": ("tests/unit/test_ingestion.py",),
    "projections/asof_projections/versions.py": ("tests/unit/test_versions.py",),
    "projections/asof_projections/slot_cache.py": (
        "tests/unit/test_slot_cache.py",
        "tests/hostile/test_long_slots.py",
    ),
    "projections/asof_projections/long_slot.py": (
        "tests/property/test_long_slot.py",
        "tests/unit/test_long_changes.py",
    ),
    "projections/asof_projections/restatements.py": ("tests/unit/test_first_said.py",),
    # consolidation
    "agents/asof_agents/consolidation/communities.py": ("tests/unit/test_consolidation.py",),
    "agents/asof_agents/consolidation/cycle.py": ("tests/unit/test_consolidation.py",),
    "agents/asof_agents/consolidation/decay.py": ("tests/unit/test_consolidation.py",),
    "agents/asof_agents/consolidation/merges.py": ("tests/unit/test_consolidation.py",),
    "agents/asof_agents/consolidation/partitions.py": ("tests/unit/test_consolidation.py",),
    "agents/asof_agents/consolidation/undo.py": ("tests/unit/test_consolidation.py",),
    "projections/asof_projections/queries/consolidations.py": ("tests/unit/test_consolidation.py",),
}
NOT_TRIED: Final = "NOT TRIED"
EQUAL: Final[dict[str, str]] = json.loads((ROOT / "tests" / "equal_mutants.json").read_text("utf-8"))
"""Changes that need not be noticed, by what is printed of them, each with the reason."""


def main(arguments: list[str]) -> int:
    """Print what was not noticed; return 1 if it has no reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help="instead of all")
    parser.add_argument("--most", type=int, help="changes of each module, spread over it, instead of all")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args(arguments)
    unexplained = 0
    with tempfile.TemporaryDirectory(prefix="asof-mutants-") as folder:
        copy = Path(folder) / "asof"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "shared"))
        os.chdir(copy)
        sys.dont_write_bytecode = False  # whatever the environment says: each change would compile the tests anew
        sys.path[:0] = paths = [str(copy / source) for source in SOURCES]
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)
        modules = given.modules or list(MODULES)
        for files in dict.fromkeys(MODULES[module] for module in modules):
            together = [module for module in modules if MODULES[module] == files]
            for what, verdict in _unnoticed(copy, together, files, given.processes, given.most):
                reason = EQUAL.get(what, "")
                unexplained += not reason
                sys.stdout.write(f"{what}: {reason or verdict}\n")
                sys.stdout.flush()
    return 1 if unexplained else 0


def _unnoticed(
    copy: Path, modules: list[str], files: tuple[str, ...], processes: int, most: int | None
) -> Iterator[tuple[str, str]]:
    """Yield the changes of modules that their tests do not notice, and those that could not be tried, or none; go on.

    Beside each: which of the two it is.
    """
    try:
        tests = Tests([copy / module for module in modules], files)
    except RuntimeError as error:
        yield str(error), NOT_TRIED
        return
    for module in modules:
        before = tests.tried
        try:
            yield from (
                (f"{module}: {change}", "NOT NOTICED") for change in tests.unnoticed(copy / module, processes, most)
            )
        except RuntimeError as error:
            yield str(error), NOT_TRIED
        while tests.lost:
            yield f"{module}: {tests.lost.pop()}", NOT_TRIED
        sys.stderr.write(f"{module}: {tests.tried - before} changes tried\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
