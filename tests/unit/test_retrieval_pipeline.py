"""The retrieval pipeline over a history: seeds, names, the graph around them, communities, as of a moment."""

from contextlib import contextmanager

import pytest

from asking import search_of
from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.embedding.hashing import HashingEmbedder
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.answers import Hits, RetrievalMetrics
from asof_projections.model.queries import HEAD
from asof_projections.model.rows import Moment
from asof_projections.retrieval.pipeline.answers import merged_retrieval, summed
from asof_projections.retrieval.pipeline.configuration import PipelineConfig
from asof_projections.retrieval.pipeline.graph import MemoryGraph
from asof_projections.retrieval.pipeline.nodes import Key
from asof_projections.retrieval.pipeline.search import PipelineSearch, retrieval_of_nothing
from asof_projections.retrieval.pipeline.seeds import SearchVectors
from asof_projections.vectors.faiss_index import FaissVectorIndex
from asof_projections.vectors.projection import VectorProjection, facts_of, names_of, turns_of
from asof_streams.instants import NEG
from asof_streams.messages import IdentityStatement
from histories import History, on
from semantic_story import Story, entity, fact
from world import World

NOW = Moment(on("2025"), HEAD)
ALONE = {"graph_expansion_hops": 0, "enable_entity_extraction": False, "enable_community_expansion": False}
STEPS = [
    "query_embedding_us",
    "vector_search_us",
    "entity_extraction_us",
    "graph_expansion_us",
    "community_selection_us",
    "reranking_us",
    "context_assembly_us",
]


class Synonyms(HashingEmbedder):
    """Knows that a kitten is a cat; keeps what it was asked to embed."""

    model_id = "synonyms-1"  # type: ignore[misc]

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts):
        self.asked += texts
        return super().embed([text.replace("kitten", "cat") for text in texts])


@pytest.fixture
def history(tmp_path):
    history = History(tmp_path)
    history.say("2024-01-01", "Ana -lives_in-> Berlin", role="Ana")
    history.say("2024-01-02", "Berlin -lies_in-> Germany", role="Ben")
    history.say("2024-01-03", "Cleo -keeps-> cat", role="Ben")
    history.say("2024-01-04", "We had a picnic by the lake", role="Ana")
    history.say("2024-01-05", "Ana -lives_in-> Berlin", role="Ben")
    yield history
    history.close()


@pytest.fixture
def meaning(history, tmp_path):
    embedder = Synonyms()
    cached = CachedEmbedder(embedder, tmp_path / "vectors.db")

    def following(name, texts):
        index = FaissVectorIndex.open(tmp_path / f"{name}.index", cached.model_id, cached.dimensions)
        return VectorProjection(texts, cached, index)

    kinds = {
        "facts": facts_of(history.beliefs),
        "names": names_of(history.beliefs),
        "turns": turns_of(history.episodes),
    }
    projections = [following(name, texts) for name, texts in kinds.items()]
    for projection in projections:
        projection.catch_up()
    embedder.asked.clear()
    yield SearchVectors(embedder, *(projection.index for projection in projections))
    cached.close()


def ask(history, text, at=NOW, *, meaning=None, config=None, measure=None, **fields):
    group = None if "group_ids" in fields else fields.pop("group", "g")
    search = PipelineSearch(history.beliefs, history.episodes, meaning, PipelineConfig.model_validate(config or {}))
    if measure is not None:
        search = PipelineSearch(history.beliefs, history.episodes, meaning, measure=measure)
    return search.search(search_of(text, group, profile="pipeline", **fields), at)


def sentences(hits):
    return [hit.fact for hit in hits]


def contents(hits):
    return [hit.content for hit in hits.episodes if hit.score is not None]


def named(hits):
    return [entity.name for entity in hits.retrieval.entities]


def ways(hits, kind=None):
    """How each node was reached, by the node's text."""
    texts = {hit.uuid: hit.fact for hit in hits} | {hit.uuid: hit.content for hit in hits.episodes}
    return {
        texts.get(node.uuid, node.uuid): (node.way, node.hops, node.similarity)
        for node in hits.retrieval.ranking
        if kind in (None, node.kind)
    }


# Steps 0 and 1.


def test_the_mindset_is_detected_unless_it_is_given(history):
    assert ask(history, "picnic").retrieval.mindset is None
    assert ask(history, "picnic, step by step").retrieval.mindset == "algorithmic"
    assert ask(history, "picnic, step by step", mindset="divergent").retrieval.mindset == "divergent"
    assert (
        ask(history, "picnic, step by step", config={"query_mindset": "convergent"}).retrieval.mindset == "convergent"
    )


def test_a_question_is_embedded_as_it_is_and_as_turns_are_without_the_names_of_speakers(history, meaning):
    ask(history, "What did Ana say?", meaning=meaning, config={"enable_entity_extraction": False})

    assert meaning.embedder.asked == ["What did Ana say?", "What did I say?"]


# Step 2.


def test_facts_turns_and_entities_near_in_meaning_are_the_seeds(history, meaning):
    hits = ask(history, "kitten", meaning=meaning, config=ALONE | {"min_similarity": 0.05})

    assert sentences(hits) == ["Cleo keeps cat"]
    assert contents(hits) == ["Cleo -keeps-> cat"]
    assert {way for way, _, _ in ways(hits).values()} == {"meaning"}
    assert {node.kind for node in hits.retrieval.ranking} == {"fact", "turn", "entity"}
    assert [hits[0].scores.meaning] == [node.similarity for node in hits.retrieval.ranking if node.kind == "fact"]
    assert hits[0].scores.words is None


def test_at_most_so_many_nodes_are_seeds(history, meaning):
    assert len(ask(history, "Ana Berlin cat", meaning=meaning, config=ALONE).retrieval.ranking) > 3
    assert (
        len(ask(history, "Ana Berlin cat", meaning=meaning, config=ALONE | {"vector_top_k": 3}).retrieval.ranking) == 3
    )


def test_what_is_less_similar_than_the_least_is_no_seed(history, meaning):
    every = ask(history, "kitten", meaning=meaning, config=ALONE).retrieval.ranking
    near = ask(history, "kitten", meaning=meaning, config=ALONE | {"min_similarity": 0.2}).retrieval.ranking

    assert 0 < len(near) < len(every)
    assert all(node.similarity >= 0.2 for node in near)
    assert {node.uuid for node in near} == {node.uuid for node in every if node.similarity >= 0.2}


def test_without_vectors_the_share_of_words_is_what_is_similar(history):
    hits = ask(history, "Who had a picnic by the lake?", config={"enable_entity_extraction": False})

    assert contents(hits) == ["We had a picnic by the lake"]
    assert hits.episodes[0].scores.words == 1.0
    assert hits.episodes[0].scores.meaning is None


# Step 3.


@pytest.mark.parametrize("name", ["Berlin", "berlin", "BERLIN's", "the Berlin", '"Berlin"'])
def test_an_entity_is_found_by_its_name_as_resolution_compares_names(history, name):
    assert named(ask(history, f"What of {name}?")) == ["Berlin"]


def test_the_entities_of_a_question_stand_in_its_order(history):
    assert named(ask(history, "What have Germany and Ana?")) == ["Germany", "Ana"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What of Germani?", ["Germany"]),  # a letter for another
        ("What of Grmany?", []),  # not in the first two characters
        ("What of Gemrany?", ["Germany"]),  # two letters swapped
        ("What of Germny?", ["Germany"]),
        ("What of Germaany?", ["Germany"]),
        ("What of Germaani?", []),  # two slips
        ("what of germani", ["Germany"]),  # typed in a hurry
        ("What of Anna?", ["Ana"]),
        ("What of Ann?", []),  # too short to be told from another name
    ],
)
def test_a_name_with_one_slip_is_known(history, text, found):
    assert named(ask(history, text)) == found


def test_a_slip_is_not_in_a_number(history):
    history.say("2024-01-06", "Cleo -keeps-> Area51", role="Ben")

    assert named(ask(history, "What of Area51?")) == ["Area51"]
    assert named(ask(history, "What of Arae51?")) == ["Area51"]
    assert named(ask(history, "What of Area52?")) == []


def test_another_name_with_one_slip_is_known(history):
    history.send("2024-02-01", IdentityStatement(group_id="g", op="alias", entity="Germany", name="Deutschland"))

    assert named(ask(history, "What of Deutschlond?")) == ["Germany"]
    assert named(ask(history, "What of Germeny?")) == ["Germany"]


def test_a_name_with_one_slip_is_known_among_many_names(history):
    for number in range(260):
        history.tell("2024-02-01", subject=f"A{number}", relation="knows", object=f"B{number}")
    history.tell("2024-02-01", subject="Zanzibar", relation="knows", object="Ana")

    assert named(ask(history, "What of Zanzibor?")) == ["Zanzibar"]


def test_a_word_that_every_question_has_begins_and_ends_no_name(history):
    history.say("2024-01-06", "Will -knows-> Who Knows", role="Ben")

    assert named(ask(history, "Who knows what Ana will do?")) == ["Ana"]


def test_an_entity_is_as_similar_as_its_name_is_much_of_the_question(history):
    history.say("2024-01-06", "Bank of the West -keeps-> boat", role="Ben")

    def similarity(text):
        [node] = [
            node
            for node in ask(history, text, config={"graph_expansion_hops": 0}).retrieval.ranking
            if node.way == "name"
        ]
        return node.similarity

    assert similarity("What of the winter of Germeny?") == 0.5
    assert similarity("Bank of the West?") == 1.0


def test_a_name_that_nobody_has_means_an_entity_with_a_near_name_or_one_that_contains_it(history, meaning):
    history.say("2024-01-06", "Maria Fischer -keeps-> boat", role="Ben")
    meaning.names.add([10_000], meaning.embedder.embed(["unused"]))  # of nobody: it is not among the names known
    numbers, _, names = zip(*history.beliefs.names(), strict=True)
    meaning.names.add(numbers, meaning.embedder.embed(names))

    assert named(ask(history, "What has Fischer?", meaning=meaning)) == ["Maria Fischer"]
    assert named(ask(history, "What of Kitten?", meaning=meaning)) in ([], ["cat"])
    assert named(ask(history, "What of Zanzibar?", meaning=meaning)) == []
    assert named(ask(history, "What has Fischer?")) == []  # by vectors alone


def test_only_entities_of_the_labels_are_found(history):
    assert named(ask(history, "Berlin", config={"ner_labels": ["Thing"]})) == ["Berlin"]
    assert named(ask(history, "Berlin", config={"ner_labels": ["Person"]})) == []


def test_no_entities_are_looked_for_where_that_is_switched_off(history):
    hits = ask(history, "Berlin", config={"enable_entity_extraction": False})

    assert named(hits) == []
    assert "## Known Entities" not in hits.retrieval.context


def test_a_name_alone_answers_where_neither_words_nor_vectors_find_anything(history):
    hits = ask(history, "Germeny")

    assert sentences(hits) == ["Berlin lies in Germany"]
    assert ways(hits, "fact") == {"Berlin lies in Germany": ("graph", 1, 0.5)}


def test_an_entity_that_was_not_known_yet_is_not_named(history):
    assert named(ask(history, "Germany and Ana", Moment(on("2025"), on("2024-01-01")), known_at="2024-01-01")) == [
        "Ana"
    ]


# Steps 4 and 5.


def test_a_neighbour_has_half_the_similarity_for_each_step(history):
    hits = ask(history, "Germeny", config={"graph_expansion_hops": 4})

    assert [ways(hits)[fact] for fact in ("Berlin lies in Germany", "Ana lives in Berlin")] == [
        ("graph", 1, 0.5),
        ("graph", 3, 0.125),
    ]
    assert ways(hits)["Berlin -lies_in-> Germany"] == ("graph", 2, 0.25)
    assert ways(hits)["Ana -lives_in-> Berlin"] == ("graph", 4, 0.0625)
    assert sentences(ask(history, "Germeny", config={"graph_expansion_hops": 0})) == []


def test_a_fact_leads_to_the_turns_that_say_it_and_a_turn_to_the_facts_that_it_began(history):
    off = {"enable_entity_extraction": False, "enable_community_expansion": False}
    hits = ask(history, "lives", config=off)

    assert sentences(hits) == ["Ana lives in Berlin"]
    assert [episode.role for episode in hits.episodes] == ["Ben", "Ana"]  # who said it again, later
    history.say("2024-01-31", "Eve -likes-> chess", role="Ben")
    history.say("2024-02-01", "Dora -likes-> sailing", role="harbour master")
    told = ask(history, "harbour master", config=off)
    assert ways(told, "turn")["Dora -likes-> sailing"][:2] == ("words", 0)
    assert ways(told, "fact") == {"Dora likes sailing": ("graph", 1, 0.5)}


def test_a_fact_that_no_turn_says_leads_to_the_facts_about_its_ends(history):
    history.tell("2024-02-01", subject="Dora", relation="steers", object="boat")
    history.tell("2024-02-01", subject="Eve", relation="knows", object="Dora")
    config = {"enable_entity_extraction": False, "enable_community_expansion": False, "graph_expansion_hops": 2}

    found = ways(ask(history, "steers", over="facts", config=config))

    assert found == {"Dora steers boat": ("words", 0, 1.0), "Eve knows Dora": ("graph", 2, 0.25)}


def numbers_of_facts_and_turns(history):
    """Say so much that a fact and a turn have the same number; return the numbers of both."""
    for number in range(20):
        history.say("2024-02-01", f"sailing trip {number}", role="Ben")
    for name in ("Gus", "Hal", "Ida"):
        history.say("2024-02-02", f"{name} -likes-> sailing", role="Ben")
    turns = history.episodes.turns(["g"], HEAD)
    graph = MemoryGraph(history.beliefs, history.episodes, turns, NOW, None)
    graph.read_facts(range(100))
    assert {*graph.facts} & {*turns.n.tolist()}
    return graph, turns.n.tolist()


def test_a_turn_leads_to_facts_alone_and_to_none_because_that_has_its_number(history):
    graph, turns = numbers_of_facts_and_turns(history)

    around = graph.neighbours([Key("turn", number) for number in turns])

    assert {key.kind for keys in around.values() for key in keys} == {"fact"}


def test_a_turn_that_has_the_number_of_a_fact_is_answered_as_a_turn_alone(history):
    numbers_of_facts_and_turns(history)

    hits = ask(history, "sailing trip Ana Berlin Germany", limit=100)

    kinds = [node.kind for node in hits.retrieval.ranking]
    assert kinds.count("fact") == len(hits)
    assert len({node.uuid for node in hits.retrieval.ranking}) == len(kinds)


def test_a_fact_of_which_no_episode_is_there_is_as_recent_as_its_time_or_else_as_the_belief(tmp_path):
    story = Story()
    story.tell(entity("Dora"), entity("boat"), entity("chess"))
    dated, undated = (
        fact("d", "Dora", "keeps", "boat", (on("2020"), None)),
        fact("u", "Dora", "likes", "chess", (NEG, None)),
    )
    believed = story.tell(dated, undated)
    with (
        SqliteGraph(tmp_path / "told.db", "semantic.told", writable=True) as beliefs,
        SqliteGraph(tmp_path / "behind.db", "episodic", writable=True) as behind,
    ):
        beliefs.apply(story.records)
        beliefs.commit(len(story.records), b"")
        graph = MemoryGraph(beliefs, behind, behind.turns(["g"], HEAD), NOW, None)
        graph.read_facts(range(100))
        times = {each.relation: graph.time_of(each) for each in graph.facts.values()}

    assert times == {"keeps": on("2020"), "likes": believed}


def test_what_is_taken_to_be_the_same_stands_for_it(history):
    history.say("2024-01-06", "Annie -likes-> jazz", role="Ben")
    assert "Annie likes jazz" not in sentences(ask(history, "Ana"))

    history.send("2024-02-01", IdentityStatement(group_id="g", op="merge", entity="Annie", into="Ana"))

    assert ways(ask(history, "Ana"))["Annie likes jazz"] == ("graph", 1, 0.5)


@pytest.fixture
def community(history):
    """Germany's community has Berlin and Ana, and whom facts connect to them."""
    history.say("2024-02-01", "Berlin -keeps-> Spree", role="Ben", update_communities=True)
    [community] = history.beliefs.communities("g", None)
    return [member.name for member in community.members]


def test_a_seed_brings_the_members_of_its_community_and_their_facts(history, community):
    assert {"Berlin", "Spree"} <= {*community}
    config = {"graph_expansion_hops": 0}

    hits = ask(history, "Spree", config=config)

    brought = {text: way for text, way in ways(hits).items() if way[0] == "community"}
    assert "Ana lives in Berlin" in brought
    assert set(brought.values()) == {("community", 0, 0.1)}
    assert ways(hits)["Berlin keeps Spree"][0] == "words"  # what was there keeps its similarity


@pytest.mark.usefixtures("community")
@pytest.mark.parametrize("entities", [True, False], ids=["with the entity", "without the entity"])
def test_the_community_of_a_fact_or_a_turn_is_that_of_its_ends(history, entities):
    config = {"graph_expansion_hops": 0, "enable_entity_extraction": entities}

    found = ways(ask(history, "Spree", config=config))

    assert found["Berlin keeps Spree"][0] == "words"
    assert found["Ana lives in Berlin"][0] == "community"


@pytest.mark.usefixtures("community")
def test_a_community_brings_at_most_so_many_new_nodes_for_each_seed(history):
    def brought(**config):
        hits = ask(history, "Spree", config={"graph_expansion_hops": 0, **config}, limit=100)
        return sum(node.way == "community" for node in hits.retrieval.ranking)

    assert brought(max_community_members=0) == brought(enable_community_expansion=False) == 0
    assert brought() > 2
    one = ask(history, "Spree", over="facts", config={"graph_expansion_hops": 0, "max_community_members": 5})
    assert sum(node.way == "community" for node in one.retrieval.ranking) <= 5 * 3  # of three seeds


# Step 6, and the answer.


def test_filters_leave_facts_and_the_turns_that_say_them(history):
    hits = ask(history, "Ana Berlin Germany picnic", relations=["lies_in"])

    assert sentences(hits) == ["Berlin lies in Germany"]
    assert contents(hits) == ["Berlin -lies_in-> Germany"]


def test_what_is_read_behind_the_last_fact_that_filters_leave_is_left_out(history):
    assert sentences(ask(history, "Berlin", relations=["lives_in"])) == ["Ana lives in Berlin"]


def test_the_neighbours_of_a_memory_that_were_reached_with_it_are_counted(history):
    hits = ask(history, "Germeny")

    assert {(node.kind, node.centrality) for node in hits.retrieval.ranking} == {("entity", 1.0), ("fact", 1.0)}


def test_a_kind_is_asked_for_by_what_a_search_is_over(history):
    facts, turns = (ask(history, "Berlin", over=over) for over in ("facts", "episodes"))

    assert (sentences(facts), contents(facts)) == (["Ana lives in Berlin", "Berlin lies in Germany"], [])
    assert sentences(turns) == []
    assert len(contents(turns)) == 3
    assert {node.kind for node in turns.retrieval.ranking} == {"turn"}


def test_memories_are_of_the_time_range(history):
    hits = ask(history, "Ana Berlin Germany Cleo cat", start="2024-01-02", stop="2024-01-03")

    assert sentences(hits) == ["Berlin lies in Germany"]
    assert contents(hits) == ["Berlin -lies_in-> Germany"]
    said_again = ask(history, "Ana", start="2024-01-05")
    assert sentences(said_again) == ["Ana lives in Berlin"]  # said last on that day


def test_at_most_the_limit_of_each_kind_is_answered_and_behind_them_what_says_the_facts(history):
    hits = ask(history, "Berlin Ana Germany", limit=1)

    assert len(hits) == len(contents(hits)) == 1
    assert all(hits[0].uuid in episode.facts for episode in hits.episodes[1:])
    assert len(ask(history, "Berlin", limit=1).retrieval.context.splitlines()) == 5  # one memory, one entity


def test_groups_never_meet(history):
    history.say("2024-01-06", "Ana -likes-> chess", role="Ana", group_id="other")

    assert sentences(ask(history, "Ana")) == ["Ana lives in Berlin"]
    assert sentences(ask(history, "Ana", group="other")) == ["Ana likes chess"]
    assert len(named(ask(history, "Ana", group_ids=["g", "other"]))) == 2
    assert len(named(ask(history, "Ana", group=None))) == 2
    assert ask(history, "Ana", group="nobody") == []


def test_as_of_an_earlier_moment_it_answers_what_was_known_then(history):
    earlier = on("2024-01-02")
    then = ask(history, "Ana Berlin Germany", Moment(on("2024-01-02"), earlier), known_at=earlier)

    assert sorted(sentences(then)) == ["Ana lives in Berlin", "Berlin lies in Germany"]
    assert len(then.episodes) == 2
    assert ask(history, "Ana", Moment(on("2023"), HEAD)) == []


def test_scores_are_weighed_from_the_parts_that_the_answer_shows(history):
    hits = ask(history, "How did Ana get to Berlin, step by step?")

    assert hits.retrieval.ranking == tuple(sorted(hits.retrieval.ranking, key=lambda node: -node.score))
    for node in hits.retrieval.ranking:
        base = 0.5 * node.similarity + 0.3 * node.centrality + 0.2 * node.recency
        assert node.score == pytest.approx(0.85 * base + 0.15 * node.mindset, abs=1e-5)
    assert {hit.uuid: hit.score for hit in hits}.items() <= {n.uuid: n.score for n in hits.retrieval.ranking}.items()


def test_the_context_has_the_best_memories_and_the_entities_that_were_named(history):
    hits = ask(history, "Where does Ana live?")

    lines = hits.retrieval.context.splitlines()
    assert lines[0] == "## Relevant Memories"
    assert lines[1] == f'[1] (score: {hits[0].score:.2f}) "Ana lives in Berlin"'
    assert lines[2].endswith('"Ben: Ana -lives_in-> Berlin"')
    assert lines[-2:] == ["## Known Entities", "- Ana (type: Thing)"]


@pytest.mark.parametrize("text", ["", "?!", "Zanzibar", '" OR 1', "x" * 2_000])
def test_any_question_has_an_answer_and_most_nonsense_an_empty_one(history, meaning, text):
    hits = ask(history, text)

    assert (hits, hits.episodes, hits.retrieval.context) == ([], [], "")
    ask(history, text, meaning=meaning)


def test_each_step_is_measured_from_outside_once_and_in_its_order(history, meaning):
    measured = []

    @contextmanager
    def measure(step):
        measured.append(step)
        yield

    ask(history, "Where does Ana live?", meaning=meaning, measure=measure)
    assert measured == STEPS
    measured.clear()
    ask(history, "Where does Ana live?", measure=measure)
    assert measured == STEPS[1:]  # without an embedder nothing is embedded


def test_where_nothing_was_ever_written_no_step_takes_any_time_and_that_is_told_where_it_is_asked():
    def of_nothing(**fields):
        query = search_of("picnic, step by step", "g", profile="pipeline", **fields)
        return retrieval_of_nothing(query, PipelineConfig())

    assert of_nothing(explain=True).metrics == RetrievalMetrics(*[0] * 8)
    assert (of_nothing().metrics, of_nothing().mindset) == (None, "algorithmic")


def test_answers_of_several_partitions_become_one(history):
    history.say("2024-01-06", "Ana -likes-> chess", role="Ana", group_id="other")
    found = [ask(history, "What of Ana?", group=group) for group in ("g", "other")]
    for seconds, each in enumerate(found, 1):
        each.metrics = RetrievalMetrics(*[seconds] * 8)
    hits = Hits([hit for each in found for hit in each], [hit for each in found for hit in each.episodes])

    whole = merged_retrieval(found, hits, 3)

    assert whole is not None
    assert [entity.group_id for entity in whole.entities] == ["g", "other"]
    assert {"Ana lives in Berlin", "Ana likes chess"} == {*sentences(hits)}
    assert all(f'"{sentence}"' in whole.context for sentence in sentences(hits))
    assert whole.context.count("score: ") == 3
    assert [node.score for node in whole.ranking] == sorted((node.score for node in whole.ranking), reverse=True)
    assert len(whole.ranking) == sum(len(each.retrieval.ranking) for each in found)
    assert summed([each.metrics for each in found]) == RetrievalMetrics(*[3] * 8)
    assert merged_retrieval([Hits()], Hits(), 3) is summed([None]) is None


# What seeds are looked for among.


def test_names_of_another_group_are_no_seeds_but_where_all_are_asked(history, meaning):
    known = len(list(history.beliefs.names()))
    history.say("2024-01-06", "Zoe -keeps-> boat", role="Zoe", group_id="other")
    numbers, _, names = zip(*list(history.beliefs.names())[known:], strict=True)
    meaning.names.add(numbers, meaning.embedder.embed(names))

    def entities(**groups):
        hits = ask(history, "boat", meaning=meaning, config=ALONE | {"min_similarity": 0.9}, **groups)
        return len([node for node in hits.retrieval.ranking if node.kind == "entity"])

    assert (entities(group="g"), entities(group="other"), entities(group=None)) == (0, 1, 1)


def test_what_filters_leave_out_takes_no_place_among_the_seeds(history, meaning):
    config, text = ALONE | {"vector_top_k": 1}, "Ana lives in Berlin in Germany"

    [fact] = ask(history, text, meaning=meaning, config=config, over="facts")
    assert fact.fact == "Ana lives in Berlin"
    [fact] = ask(history, text, meaning=meaning, config=config, over="facts", relations=("lies_in",))
    assert fact.fact == "Berlin lies in Germany"


def test_a_name_is_compared_with_the_question_as_it_was_asked(history, meaning):
    hits = ask(history, "Ana", meaning=meaning, config=ALONE | {"min_similarity": 0.99})

    assert [(node.kind, node.way) for node in hits.retrieval.ranking] == [("entity", "meaning")]


def test_a_fact_is_compared_with_the_question_as_it_was_asked(history, meaning):
    hits = ask(history, "Ana lives in Berlin", meaning=meaning, config=ALONE | {"min_similarity": 0.99}, over="facts")

    assert sentences(hits) == ["Ana lives in Berlin"]


def test_what_is_just_as_similar_as_the_least_is_a_seed(history, meaning):
    every = ask(history, "We had a picnic by the lake", meaning=meaning, config=ALONE).retrieval.ranking

    assert min(node.similarity for node in every) == 0.0
    assert contents(ask(history, "picnic lake", config=ALONE | {"min_similarity": 1.0})) == [
        "We had a picnic by the lake"
    ]


def test_of_facts_with_as_many_words_the_first_is_the_seed_where_there_is_room_for_one(history):
    history.tell("2024-02-01", subject="Maximilian Alexander of Habsburg", relation="likes", object="sailing")
    history.tell("2024-02-01", subject="Eve", relation="likes", object="sailing")
    history.say("2024-02-02", "A trip to the harbour, for sailing", role="Ana")
    config = ALONE | {"vector_top_k": 2}

    hits = ask(history, "harbour sailing", config=config)

    assert contents(hits) == ["A trip to the harbour, for sailing"]
    assert sentences(hits) == ["Maximilian Alexander of Habsburg likes sailing"]


def test_of_facts_and_turns_with_words_those_with_most_of_them_are_the_seeds(history):
    config = {"enable_entity_extraction": False, "graph_expansion_hops": 0, "enable_community_expansion": False}

    [node] = ask(history, "Berlin picnic lake", config=config | {"vector_top_k": 1}).retrieval.ranking

    assert (node.kind, node.way) == ("turn", "words")


def test_who_says_a_memory_makes_it_no_procedure(history):
    history.say("2024-01-06", "Sailing is fun", role="First Officer")

    [node] = ask(history, "sailing", config=ALONE, mindset="algorithmic").retrieval.ranking

    assert node.mindset == 0.0


def test_what_happened_before_the_moment_is_found(tmp_path):
    world = World(tmp_path / "data")
    world.memory.add("I visited Rome yesterday.", role="Ana", group_id="g", timestamp="2024-05-02")
    later, before = (
        world.memory.search("Rome", profile="pipeline", group_id="g", valid_at=day, over="facts")
        for day in ("2024-06-01", "2024-04-01")
    )
    world.memory.close()

    assert [hit.fact for hit in later] == ["Ana visited Rome"]
    assert [hit.fact for hit in before] == []


# How names of a question are cut out of it.


def test_a_name_within_a_longer_one_that_was_found_names_nobody(history):
    history.say("2024-01-06", "New York -knows-> York", role="Ben")

    assert named(ask(history, "What of New York?")) == ["New York"]


def test_in_a_hurry_each_word_may_be_a_name_and_else_those_that_stand_together(history):
    history.say("2024-01-06", "Maria Fischer -keeps-> boat", role="Ben")

    assert named(ask(history, "what of germani berlinn")) == ["Germany", "Berlin"]
    assert named(ask(history, "What of Maria Fisher?")) == ["Maria Fischer"]


def test_of_words_that_stand_together_four_are_one_name_at_most(history):
    assert named(ask(history, "What of Xavi Yara Zeno Wanda Germani?")) == ["Germany"]
    assert named(ask(history, "What of Xavi Yara Zeno Germani?")) == []


def test_a_name_that_nobody_has_means_the_entity_whose_name_means_the_same(history, meaning):
    assert named(ask(history, "what of kitten?", meaning=meaning)) == ["cat"]


def test_behind_the_turns_that_were_found_stand_those_that_say_the_facts_and_none_where_facts_alone_are_asked(history):
    config = ALONE | {"vector_top_k": 1}
    hits = ask(history, "lives", config=config)

    said = [(episode.role, episode.score, episode.facts) for episode in hits.episodes]
    assert said == [("Ana", None, (hits[0].uuid,)), ("Ben", None, (hits[0].uuid,))]
    assert ask(history, "lives", config=config, over="facts").episodes == []


def test_a_turn_that_was_found_names_the_facts_that_it_says(history):
    hits = ask(history, "Cleo keeps cat", config={"enable_community_expansion": False})

    assert {episode.content: episode.facts for episode in hits.episodes}["Cleo -keeps-> cat"] == (hits[0].uuid,)


def test_of_one_partition_alone_an_answer_is_what_that_partition_answered(history):
    hits = ask(history, "picnic, step by step")

    whole = merged_retrieval([hits], hits, 10)

    assert whole is not None
    assert (whole.mindset, whole.context) == ("algorithmic", hits.retrieval.context)
