"""What a generation takes up of an extraction, by its configuration of ingestion: labels, toggles and thresholds."""

from dataclasses import replace

import pytest
from pydantic import ValidationError

import asof
from asof_agents.handlers.admission import admit
from asof_projections.confidence import entity_confidence
from asof_projections.model.rows import Moment
from asof_projections.queries.reports import COUNTED, report_of
from asof_streams.episodic import (
    AttributeStated,
    ExtractionFailed,
    ExtractionRefused,
    MentionObserved,
    RelationshipStated,
)
from asof_streams.ingestion_config import ConflictConfig, IngestionConfig
from asof_streams.semantic import ContradictionFlagged, EntityIntroduced, FactInvalidated, MentionResolved
from histories import History, on

FAR = on("2030")


@pytest.fixture
def history(tmp_path):
    history = History(tmp_path)
    yield history
    history.close()


def use(history, **config):
    [generation] = history.engine.generations
    generation.build = replace(generation.build, ingestion=IngestionConfig(**config))


def facts(history):
    found = history.questions.facts(Moment(FAR, FAR))
    return sorted((fact.subject, fact.relation, fact.object) for fact in found)


def names(history):
    return [r.event.name for r in history.semantic.read() if isinstance(r.event, EntityIntroduced)]


def reasons(history):
    return [r.event.reason for r in history.semantic.read() if isinstance(r.event, MentionResolved)]


def mention(number, type_, text, **more):
    return MentionObserved(mention_id=f"m{number}", episode_id="e", entity_type=type_, text=text, start=0, **more)


def stated(source, target, confidence):
    return RelationshipStated(
        relationship_id=f"{source}-{target}",
        episode_id="e",
        relation="knows",
        source=source,
        target=target,
        stance="holds",
        confidence=confidence,
        start=0,
        end=1,
    )


def described(of, confidence):
    about = {"attribute_id": f"a-{of}", "episode_id": "e", "mention_id": of, "name": "colour", "value": "red"}
    return AttributeStated(**about, confidence=confidence, start=0, end=1)


def test_every_parameter_has_the_default_of_the_specification_but_for_the_labels():
    config = IngestionConfig()

    assert (config.enable_relations, config.enable_entity_resolution) == (True, True)
    assert config.enable_contradiction_detection
    assert (config.enable_structural_similarity, config.enable_ending_questions) == (False, False)
    assert config.entity_resolution_threshold == 0.5
    assert config.conflict_config == ConflictConfig(temporal_threshold_secs=31_557_600, confidence_threshold=0.3)
    assert (config.ner_labels, config.min_confidence) == ((), 0.0)
    with pytest.raises(ValidationError, match="frozen"):
        config.min_confidence = 1.0
    with pytest.raises(ValidationError, match="next_node_id"):
        IngestionConfig.model_validate({"next_node_id": 1_000_000})


def test_questions_about_endings_are_kept_in_a_configuration_where_they_are_asked_alone():
    kept = [IngestionConfig(enable_ending_questions=asked).model_dump() for asked in (False, True)]

    assert ["enable_ending_questions" in each for each in kept] == [False, True]


def test_of_a_conflict_no_other_threshold_can_be_set_and_none_later():
    config = ConflictConfig()

    with pytest.raises(ValidationError, match="frozen"):
        config.confidence_threshold = 1.0
    with pytest.raises(ValidationError, match="confidence_treshold"):
        IngestionConfig.model_validate({"conflict_config": {"confidence_treshold": 0.5}})


@pytest.mark.parametrize(
    ("name", "type_", "sure"),
    [
        ("Ana", "Person", 0.9),
        ("ana", "Person", 0.5),
        ("a red bicycle", "Thing", 0.8),
        ("The Lord of the Rings", "Book", 0.8),
        ("42 years", "Age", 0.8),
        ("Bank of the West", "Organization", 0.9),
        ("what he said when they went away again", "Thing", 0.4),
        ("...", "Thing", 0.0),
        ("anything", None, 1.0),
    ],
)
def test_an_entity_has_a_confidence_by_its_name_and_its_type(name, type_, sure):
    assert entity_confidence(name, type_) == sure


def test_of_one_name_and_type_within_a_message_the_highest_confidence_counts():
    events = [mention(1, "Person", "ana"), mention(2, "Person", "Ana"), mention(3, "Person", "ben")]

    taken = admit(events, IngestionConfig(min_confidence=0.6))

    assert taken == events[:2]


def test_below_the_threshold_neither_an_entity_nor_a_fact_is_taken_up():
    events = [
        mention(1, "Person", "Ana"),
        mention(2, "Person", "ben"),
        mention(3, "Person", "i", speaker=True),
        mention(4, "Person", "cleo", repeats="m0"),
        stated("m1", "m3", 0.9),
        stated("m3", "m1", 0.6),
        stated("m1", "m2", 0.9),
        stated("m1", "m0", 0.9),
        described("m1", 0.6),
        described("m1", 0.7),
        described("m2", 0.9),
    ]

    taken = admit(events, IngestionConfig(min_confidence=0.7))

    assert taken == [events[0], events[2], events[4], events[9]]
    assert admit(events, IngestionConfig()) is events


def test_what_is_as_sure_as_the_threshold_is_taken_up():
    events = [mention(1, "Person", "Ana"), mention(2, "Person", "i", speaker=True), stated("m1", "m2", 0.9)]
    events.append(described("m1", 0.9))

    assert admit(events, IngestionConfig(min_confidence=0.9)) == events
    assert admit(events, IngestionConfig(min_confidence=1.0)) == [events[1]]


def test_labels_leave_entities_of_other_types_out_but_never_the_speaker():
    events = [
        mention(1, "Person", "I", speaker=True),
        mention(2, "Location", "Oslo"),
        mention(3, "Animal", "Rex"),
        stated("m1", "m2", 1.0),
        stated("m1", "m3", 1.0),
    ]

    assert admit(events, IngestionConfig(ner_labels=("Location",))) == [*events[:2], events[3]]


def test_without_relations_entities_are_known_and_no_fact_is(history):
    use(history, enable_relations=False)
    history.say("2024-01-01", "Ana -lives_in-> Oslo")

    assert (names(history), facts(history)) == (["Ana", "Oslo"], [])


def test_without_resolution_a_name_means_an_entity_of_its_own_message_alone(history):
    use(history, enable_entity_resolution=False)
    history.say("2024-01-01", "Ana -knows-> Ben")
    history.say("2024-01-02", "Ana -knows-> Cleo")

    assert names(history) == ["Ana", "Ben", "Ana", "Cleo"]
    assert facts(history) == [("Ana", "knows", "Ben"), ("Ana", "knows", "Cleo")]


@pytest.mark.parametrize("similar", [True, False])
def test_a_name_may_mean_an_entity_that_is_like_it_in_name_and_neighbours(history, similar):
    use(history, enable_structural_similarity=similar)
    history.say("2024-01-01", "Rivertown Bakery -employs-> Tom Berg")
    history.say("2024-01-02", "Bakery of Rivertown -employs-> Tom Berg")
    history.say("2024-01-03", "Rivertown Brewery -employs-> Ida Holm")

    expected = ["Rivertown Bakery", "Tom Berg", "Rivertown Brewery", "Ida Holm"]
    assert names(history) == (expected if similar else [*expected[:2], "Bakery of Rivertown", *expected[2:]])
    assert ("structure" in reasons(history)) == similar


def test_a_threshold_decides_how_alike_two_names_of_one_entity_are(history):
    use(history, enable_structural_similarity=True, entity_resolution_threshold=0.99)
    history.say("2024-01-01", "Rivertown Bakery -employs-> Tom Berg")
    history.say("2024-01-02", "Bakery of Rivertown -employs-> Tom Berg")

    assert "Bakery of Rivertown" in names(history)


def test_without_contradiction_detection_a_new_value_ends_none(tmp_path):
    config = {"enable_contradiction_detection": False}
    with asof.open(tmp_path / "off", embedder="none", ingestion=config) as memory:
        memory.state_fact(subject="Ana", relation="lives_in", object="Oslo", valid_at="2020")
        memory.state_fact(subject="Ana", relation="lives_in", object="Rome", valid_at="2021")
        memory.add("I live in Paris.", role="Ana", timestamp="2022-01-01")
        assert sorted(fact.object for fact in memory.facts()) == ["Oslo", "Paris", "Rome"]


def test_thresholds_of_a_conflict_are_those_of_the_configuration(tmp_path):
    config = {"conflict_config": {"confidence_threshold": 0.5}}
    with asof.open(tmp_path, embedder="none", policy="graded", ingestion=config) as memory:
        for place, start, sure in (("Oslo", "2020-01-01", 0.5), ("Rome", "2020-06-01", 0.9)):
            memory.state_fact(subject="Ana", relation="lives_in", object=place, valid_at=start, confidence=sure)

        assert len(memory.contradictions()) == 1
        reports = [became(memory, position).report for position in (0, 1)]

    assert [report.contradictions_detected for report in reports] == [0, 1]
    assert [report.edges_created for report in reports] == [1, 2]


def test_a_generation_keeps_the_ingestion_it_was_begun_with_and_a_rebuild_agrees_with_it(tmp_path):
    with asof.open(tmp_path, embedder="none", ingestion={"min_confidence": 0.95}) as memory:
        memory.add("I live in Oslo.", role="Ana", timestamp="2022-01-01")
        memory.add("I know Ben.", role="Ana", timestamp="2022-01-02")
        assert memory.facts() == []
        digest = memory.digest()
    with asof.open(tmp_path, embedder="none") as memory:
        assert memory.facts() == []
        assert memory.rebuild("again").ingestion == IngestionConfig(min_confidence=0.95)
        assert memory.digest("again") == digest
    with asof.open(tmp_path, embedder="none", ingestion={}) as memory:
        assert memory.rebuild("plain").ingestion is None
        memory.switch("plain")
        assert [fact.object for fact in memory.facts()][:1] == ["Oslo"]


def told(memory, content, day):
    return memory.add(content, role="Ana", timestamp=day)


def became(memory, position):
    return memory.message(position)


def test_a_message_is_answered_with_a_report_under_the_names_of_the_specification(tmp_path):
    with asof.open(tmp_path, embedder="none") as memory:
        first = told(memory, "I live in Oslo. Nice here!", "2022-01-01")
        second = told(memory, "I live in Rome now.", "2022-02-01")
        later = became(memory, 1)
        memory.state_fact(subject="Ana", relation="knows", object="Ben")
        of_fact = became(memory, 2)

    assert first.report.to_json() | {"times": None} == {
        "chunks_processed": 2,
        "chunks_failed": 0,
        "entities_extracted": 2,
        "relations_extracted": 1,
        "entity_nodes_created": 2,
        "entity_merges": 0,
        "edges_created": 3,
        "contradictions_detected": 0,
        "parts_refused": 0,
        "times": None,
    }
    assert (second.report.entity_merges, second.report.entity_nodes_created) == (1, 1)
    assert (second.report.contradictions_detected, second.report.edges_created) == (1, 4)
    assert replace(second.report, times=None) == replace(later.report, times=None)
    assert (of_fact.report.chunks_processed, of_fact.report.edges_created) == (0, 1)
    times = first.report.times
    phases = ("chunking", "ner", "relation_extraction", "entity_resolution", "contradiction_detection", "graph_update")
    assert 0 < sum(getattr(times, f"{phase}_us") for phase in phases) <= times.total_us + len(phases)
    assert times.embedding_us == 0


def test_what_all_messages_came_to_is_the_sum_of_their_reports(tmp_path):
    with asof.open(tmp_path, embedder="none") as memory:
        reports = [
            told(memory, f"I live in {place}. Nice!", "2022-01-01").report.to_json() for place in ("Oslo", "Rome")
        ]
        counts = memory._session.writer().generations.meter.counts

    assert counts["messages"] == 2
    assert {name: counts[name] for name in COUNTED} == {name: sum(each[name] for each in reports) for name in COUNTED}


def test_what_a_generation_reads_anew_is_counted_once(tmp_path):
    with asof.open(tmp_path, embedder="none") as memory:
        memory.add("I live in Oslo.", role="Ana", timestamp="2022-01-01")
        memory.rebuild("anew", input="episodes")
        memory.switch("anew")
        added = told(memory, "I work at Acme.", "2022-01-02")

    assert (added.report.entities_extracted, added.report.relations_extracted) == (2, 1)
    assert (added.report.entity_nodes_created, added.report.entity_merges) == (1, 1)


def test_sentences_become_entities_relations_and_facts_with_their_confidence(tmp_path):
    with asof.open(tmp_path, embedder="none") as memory:
        added = told(memory, "Juan lives in Madrid. He works at SAP.", "2022-01-01")
        facts = memory.facts()

    assert (added.report.chunks_processed, added.report.chunks_failed) == (2, 0)
    assert {(fact.subject, fact.relation, fact.object) for fact in facts} == {
        ("Juan", "lives_in", "Madrid"),
        ("Juan", "works_at", "SAP"),
    }
    assert all(0.5 < fact.confidence < 1 for fact in facts)


def test_readings_that_failed_and_parts_that_were_refused_are_counted_in_the_report_of_their_message():
    about = {"episode_id": "e", "request": "r"}
    failed = ExtractionFailed(
        **about,
        prompt="episode",
        prompt_version=1,
        model="m",
        reason="timeout",
        calls=2,
        prompt_tokens=0,
        completion_tokens=0,
    )
    refused = [ExtractionRefused(**about, part="fact", reason="span", count=count) for count in (2, 3)]

    report = report_of([failed, *refused], [])

    assert (report.chunks_failed, report.parts_refused) == (1, 5)
    assert (report.chunks_processed, report.entities_extracted, report.edges_created) == (0, 0, 0)


def test_two_facts_of_one_slot_are_one_contradiction_whether_flagged_displaced_or_both():
    flagged = ContradictionFlagged(contradiction_id="c", earlier="f", later="g")
    displaced = FactInvalidated(fact_id="f", kind="superseded", cause="g", holds=())
    by_another = displaced.model_copy(update={"cause": "h"})

    for events, count in (([flagged], 1), ([displaced], 1), ([flagged, displaced], 1), ([flagged, by_another], 2)):
        report = report_of([], events)
        assert (report.contradictions_detected, report.edges_created) == (count, count)


@pytest.mark.parametrize(
    ("kind", "name", "least", "most"),
    [
        (IngestionConfig, "entity_resolution_threshold", 0.0, 1.0),
        (IngestionConfig, "min_confidence", 0.0, 1.0),
        (ConflictConfig, "confidence_threshold", 0.0, 1.0),
        (ConflictConfig, "temporal_threshold_secs", 0, 10_000_000_000),
    ],
)
def test_a_parameter_may_have_both_of_its_bounds_and_nothing_beyond(kind, name, least, most):
    assert [getattr(kind.model_validate({name: value}), name) for value in (least, most)] == [least, most]
    for value in (least - 1, most + 1):
        with pytest.raises(ValidationError):
            kind.model_validate({name: value})
