"""Every question, on one small history whose answers can be told by hand."""

from itertools import permutations, product

import pytest

from asking import Asker, time
from asof_projections.model.answers import Cause, Page
from asof_projections.model.queries import HEAD, Cursor
from asof_projections.model.rows import Moment
from asof_projections.queries.temporal import TemporalQueries
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.messages import EntityStatement, FactStatement, IdentityStatement
from histories import History, on

NOW = Moment(on("2025"), on("2025"))


@pytest.fixture
def history(tmp_path):
    history = History(tmp_path)
    yield history
    history.close()


@pytest.fixture
def moved(history):
    """Berlin since 2015, a stay in Paris in 2019 told later, Munich from March 2024."""
    history.tell("2024-01-01", relation="lives_in", object="Berlin", valid_at="2015", said_at="2024", ref="b")
    history.tell("2024-02-01", relation="lives_in", object="Paris", valid_at="2019", invalid_at="2020", ref="p")
    history.say("2024-03-01", "Ana -lives_in-> Munich", name="turn 7")
    return history


def day(text):
    return time(on(text))


def objects(facts):
    return [fact.object for fact in facts]


def test_facts_are_those_of_the_valid_and_the_known_moment(moved):
    ask = moved.questions.facts

    assert objects(ask(Moment(on("2019-06"), on("2024-01-15")), "g", about="Ana")) == ["Berlin"]
    assert objects(ask(Moment(on("2019-06"), on("2024-02-15")), "g", about="Ana")) == ["Paris"]
    assert objects(ask(NOW, "g", about="Ana")) == ["Munich"]
    assert objects(ask(Moment(None, on("2024-02-15")), "g", about="Ana")) == ["Berlin", "Paris", "Berlin"]


def test_facts_are_found_by_object_and_relation_too(moved):
    moved.tell("2024-04-01", subject="Ben", relation="likes", object="Munich", valid_at="2020")

    assert [f.subject for f in moved.questions.facts(NOW, "g", object="Munich")] == ["Ben", "Ana"]
    assert [f.subject for f in moved.questions.facts(NOW, "g", object="Munich", relation="likes")] == ["Ben"]
    assert moved.questions.facts(NOW, "g", about="Ana", relation="likes") == []


def test_a_name_is_taken_exactly_else_by_its_key_and_an_unknown_one_gives_nothing(moved):
    assert objects(moved.questions.facts(NOW, "g", about="  ANA ")) == ["Munich"]
    assert moved.questions.facts(NOW, "g", about="Nobody") == []
    assert moved.questions.facts(NOW, "g", object="Nowhere") == []
    assert moved.questions.timeline("Nobody", NOW.known, "g") == []
    assert moved.questions.entity("Nobody", NOW, "g") == []
    assert moved.questions.neighbourhood("Nobody", 2, NOW, "g") == []


def test_a_question_stays_in_its_group_unless_it_is_about_every_group(moved):
    moved.tell("2024-05-01", group_id="other", relation="lives_in", object="Oslo", valid_at="2010")

    assert objects(moved.questions.facts(NOW, "g", about="Ana")) == ["Munich"]
    assert objects(moved.questions.facts(NOW, "other", about="Ana")) == ["Oslo"]
    assert objects(moved.questions.facts(NOW, None, about="Ana")) == ["Oslo", "Munich"]
    assert moved.questions.facts(NOW, "none", about="Ana") == []


def test_a_merge_is_seen_from_when_it_was_known_and_no_longer_once_it_was_taken_back(history):
    history.tell("2024-01-01", relation="likes", object="Tea", valid_at="2020")
    history.tell("2024-01-02", subject="Anna", relation="likes", object="Jazz", valid_at="2021")
    history.tell("2024-02-01", relation="also_known_as", object="Anna", valid_at="2020", ref="same")
    history.tell("2024-03-01", op="retract", ref="same", subject=None)

    def liked(known):
        return objects(history.questions.facts(Moment(on("2022"), on(known)), "g", about="Ana", relation="likes"))

    assert [liked(day) for day in ("2024-01-15", "2024-02-15", "2024-03-15")] == [["Tea"], ["Tea", "Jazz"], ["Tea"]]
    [portrait] = history.questions.entity("Ana", Moment(on("2022"), on("2024-02-15")), "g")
    assert portrait.names == ("Ana", "Anna")
    assert [(link.known_from, link.known_to) for link in portrait.duplicate_of] == [(day("2024-02-01"), None)]
    [after] = history.questions.entity("Ana", Moment(on("2022"), on("2024-03-15")), "g")
    assert [(link.known_from, link.known_to) for link in after.duplicate_of] == [(day("2024-02-01"), day("2024-03-01"))]
    assert after.names == ("Ana",)


def test_the_history_of_a_name_as_of_an_earlier_moment_is_that_of_whom_it_meant_then(history):
    history.tell("2024-01-01", relation="likes", object="Tea", valid_at="2020")
    history.tell("2024-01-02", subject="Anna", relation="likes", object="Jazz", valid_at="2021")
    history.tell("2024-02-01", relation="also_known_as", object="Anna", valid_at="2020", ref="same")

    def liked(known):
        told = history.questions.history("Ana", "g", on(known))
        return [version.object for version in told if version.relation == "likes"]

    assert [liked("2024-01-15"), liked("2024-02-15")] == [["Tea"], ["Tea", "Jazz"]]
    history.tell("2024-03-01", op="retract", ref="same", subject=None)
    assert [liked(day) for day in ("2024-01-15", "2024-02-15", "2024-03-15")] == [["Tea"], ["Tea", "Jazz"], ["Tea"]]


def test_an_entity_is_portrayed_with_what_points_to_it_and_how_often_it_was_mentioned(moved):
    [munich] = moved.questions.entity("Munich", NOW, "g")

    assert (munich.name, munich.mentions, [f.subject for f in munich.facts]) == ("Munich", 1, ["Ana"])
    assert moved.questions.entity("Munich", Moment(NOW.valid, on("2024-02-15")), "g") == []
    assert munich.to_json()["facts"][0]["object"] == "Munich"


def test_overlapping_takes_what_holds_at_some_instant_and_a_period_that_only_meets_is_left_out(moved):
    ask = moved.questions.overlapping

    assert objects(ask(on("2018"), on("2019"), NOW.known, "g", about="Ana")) == ["Berlin"]
    assert objects(ask(on("2018"), on("2019-01-02"), NOW.known, "g", about="Ana")) == ["Berlin", "Paris"]
    assert ask(on("2018"), on("2019"), NOW.known, "g", about="Nobody") == []
    with pytest.raises(InvalidInput):
        ask(on("2019"), on("2019"), NOW.known, "g")


def test_throughout_needs_every_instant_and_is_content_with_facts_that_meet(history):
    for start, end in (("2020", "2021"), ("2021", "2022"), ("2023", "2024")):
        history.tell("2024-01-01", relation="rents", object="Flat", valid_at=start, invalid_at=end)

    [whole] = history.questions.throughout(on("2020"), on("2022"), NOW.known, "g", about="Ana")

    assert (whole.valid_at, whole.invalid_at, len(whole.facts)) == (day("2020"), day("2022"), 2)
    assert history.questions.throughout(on("2021"), on("2023-06"), NOW.known, "g") == []


def test_a_timeline_tells_slot_by_slot_what_held_and_names_the_gaps(history):
    history.tell("2024-01-01", relation="works_at", object="SAP", valid_at="2015", invalid_at="2018")
    history.tell("2024-01-02", relation="works_at", object="Acme", valid_at="2019")
    history.tell("2024-01-03", relation="likes", object="Tea", valid_at="2010")

    told = history.questions.timeline("Ana", NOW.known, "g")

    assert [(s.relation, s.object, s.valid_at, s.invalid_at) for s in told] == [
        ("likes", "Tea", day("2010"), None),
        ("works_at", "SAP", day("2015"), day("2018")),
        ("works_at", None, day("2018"), day("2019")),
        ("works_at", "Acme", day("2019"), None),
    ]
    assert told[2].to_json()["object"] is None
    assert [s.object for s in history.questions.timeline("Ana", on("2024-01-01"), "g")] == ["SAP"]


def test_a_timeline_takes_duplicates_as_one_both_as_subject_and_as_object(history):
    history.tell("2024-01-01", relation="rents", object="Flat", valid_at="2020", invalid_at="2021")
    history.tell("2024-01-01", subject="Anna", relation="rents", object="The flat", valid_at="2021", invalid_at="2022")
    apart = history.questions.timeline("Ana", on("2024-01-15"), "g", relation="rents")
    history.tell("2024-02-01", relation="also_known_as", object="Anna", valid_at="2020")
    history.tell("2024-02-01", subject="Flat", relation="also_known_as", object="The flat", valid_at="2020")

    for name in ("Ana", "Anna"):
        [one] = history.questions.timeline(name, NOW.known, "g", relation="rents")
        assert (one.valid_at, one.invalid_at, len(one.facts)) == (day("2020"), day("2022"), 2)
    assert history.questions.timeline("Ana", on("2024-01-15"), "g", relation="rents") == apart
    assert [(s.valid_at, s.invalid_at) for s in apart] == [(day("2020"), day("2021"))]


def test_history_shows_every_version_with_what_opened_and_what_closed_it(moved):
    [berlin] = moved.questions.facts(Moment(on("2016"), NOW.known), "g", about="Ana")
    [paris] = moved.questions.facts(Moment(on("2019-06"), NOW.known), "g", about="Ana")
    [munich] = moved.questions.facts(NOW, "g", about="Ana")
    asserted, late, moving = (
        Cause("asserted", berlin.uuid),
        Cause("superseded", paris.uuid),
        Cause("superseded", munich.uuid),
    )

    told = moved.questions.history(berlin.uuid)

    assert [(r.valid_at, r.invalid_at, r.opened, r.closed) for r in told] == [
        (day("2015"), None, asserted, late),
        (day("2015"), day("2019"), late, None),  # known ever since: the move to Munich did not touch it
        (day("2020"), None, late, moving),
        (day("2020"), day("2024-03-01"), moving, None),
    ]
    assert {r.object for r in moved.questions.history("Ana", "g")} == {"Berlin", "Paris", "Munich"}
    assert moved.questions.history("Munich", "g")[0].to_json()["known_from"] == "2024-03-01T00:00:00Z"
    assert moved.questions.history("nothing", "g") == []


def test_history_of_a_fact_is_that_of_its_own_group_alone(moved):
    [berlin, *_] = moved.questions.facts(NOW._replace(valid=on("2016")), "g", about="Ana")

    assert moved.questions.history(berlin.uuid, "g")
    assert moved.questions.history(berlin.uuid, "another") == []


def test_known_history_tells_when_we_believed_it(moved):
    [berlin] = moved.questions.facts(Moment(on("2016"), NOW.known), "g", about="Ana")

    def believed(day):
        return [(b.known_from, b.known_to) for b in moved.questions.known_history(berlin.uuid, on(day))]

    assert believed("2016") == [(day("2024-01-01"), None)]
    assert believed("2019-06") == [(day("2024-01-01"), day("2024-02-01"))]
    assert believed("2010") == []
    with pytest.raises(NotFound):
        moved.questions.known_history("no such id", None)


def test_a_diff_labels_each_change_once_by_what_made_it(history):
    history.tell("2024-01-01", relation="lives_in", object="Berlin", valid_at="2015", invalid_at="2021", ref="b")
    history.tell("2024-01-01", relation="likes", object="Tea", valid_at="2015", ref="t")
    history.tell("2024-01-01", relation="likes", object="Jazz", valid_at="2015", ref="j")
    history.tell("2024-01-01", relation="lives_in", object="Munich", valid_at="2021")
    history.tell("2024-02-01", op="retract", ref="t", subject=None)
    history.tell("2024-02-01", op="correct", ref="j", relation="likes", object="Jazz", valid_at="2016")
    history.tell("2024-02-01", relation="likes", object="Rain", valid_at="2014")
    early, late = on("2024-01-15"), on("2024-02-15")

    def labels(first, second):
        return {
            (c.change, (c.after or c.before).object) for c in history.questions.diff(first, second, "g", about="Ana")
        }

    world = {("ended", "Berlin"), ("began", "Munich")}
    knowledge = {("retracted", "Tea"), ("revised", "Jazz"), ("learned", "Rain")}
    assert labels(Moment(on("2018"), late), Moment(on("2022"), late)) == world
    assert labels(Moment(on("2018"), early), Moment(on("2018"), late)) == knowledge
    assert labels(Moment(on("2018"), early), Moment(on("2022"), late)) == world | knowledge
    assert labels(Moment(on("2018"), late), Moment(on("2018"), late)) == set()


def test_diffs_compose_along_every_way_through_the_history(moved):
    moved.tell("2024-04-01", op="retract", ref="p", subject=None)
    moved.tell("2024-05-01", op="end", ref="b", subject=None, invalid_at="2018")
    days = ("2014", "2016", "2019-06", "2021", "2024-06")
    known = ("2023", "2024-01-15", "2024-02-15", "2024-03-15", "2024-04-15", "2024-06")
    corners = [Moment(on(v), on(k)) for v, k in product(days, known)]

    def held(at):
        return {f.uuid for f in moved.questions.facts(at, "g")}

    ways = list(permutations(corners[::3], 3)) + list(zip(corners, corners[1:], corners[2:], strict=False))
    gained = 0
    for first, second, third in ways:
        step_by_step = held(first)
        for a, b in ((first, second), (second, third)):
            step_by_step = applied(step_by_step, moved.questions.diff(a, b, "g"))
        at_once = applied(held(first), moved.questions.diff(first, third, "g"))
        gained += at_once != held(first)
        assert step_by_step == at_once == held(third)
    assert gained > 100


def applied(held, changes):
    left = held - {c.before.uuid for c in changes if c.before}
    assert len(held) - len(left) == sum(c.before is not None for c in changes), "a change of what was not there"
    return left | {c.after.uuid for c in changes if c.after}


def test_changes_follow_the_log_from_a_position_and_say_where_to_go_on(moved):
    first = moved.questions.changes(-1, 1)
    rest = moved.questions.changes(first.next, 100)

    assert [(c.position, c.change, c.fact.object) for c in first.changes] == [(0, "opened", "Berlin")]
    assert {c.position for c in rest.changes} == {1, 2}
    assert "Munich" in [c.fact.object for c in rest.changes if c.change == "opened" and c.position == 2]
    assert rest.next == 2
    assert moved.questions.changes(2, 100).to_json() == {"changes": [], "next": 2}
    assert moved.questions.changes(-1, 100, "other").to_json() == {"changes": [], "next": 2}


def test_why_leads_from_a_fact_to_the_words_and_from_its_end_to_the_words_of_that(moved):
    [munich] = moved.questions.facts(NOW, "g", about="Ana")
    moved.say("2024-04-01", "Ana -lives_in-> Munich")
    moved.say("2024-05-01", "Ana -lives_in-> Rome", role="ben")

    why = moved.questions.why(munich.uuid)

    assert [(e.name, e.position, e.quote) for e in why.evidence] == [
        ("turn 7", 2, "Ana -lives_in-> Munich"),
        ("", 3, "Ana -lives_in-> Munich"),
    ]
    assert why.evidence[0].mentions == ("Ana", "Munich")
    [superseded] = why.consequences
    assert (superseded.kind, superseded.evidence.quote, superseded.evidence.role) == (
        "superseded",
        "Ana -lives_in-> Rome",
        "ben",
    )
    assert why.to_json()["consequences"][0]["evidence"]["position"] == 4
    with pytest.raises(NotFound):
        moved.questions.why("no such id")


def test_why_as_of_a_known_moment_shows_nothing_that_was_recorded_later(moved):
    [paris] = moved.questions.facts(Moment(on("2019-06"), NOW.known), "g", about="Ana")
    before = moved.questions.why(paris.uuid).to_json()
    moved.tell("2024-04-01", relation="lives_in", object="Paris", valid_at="2019", invalid_at="2020")
    moved.tell("2024-05-01", op="correct", ref="p", relation="lives_in", object="Rome", valid_at="2019")
    after = moved.questions.why(paris.uuid).to_json()

    assert moved.questions.why(paris.uuid, on("2024-03-15")).to_json() == before
    assert {name for name in before if before[name] != after[name]} == {
        "fact",
        "evidence",
        "corrected_by",
        "consequences",
    }
    with pytest.raises(NotFound):
        moved.questions.why(paris.uuid, on("2024-01-15"))


def test_why_tells_of_endings_and_of_retractions_and_quotes_a_structured_fact_as_it_was_stated(moved):
    [berlin] = moved.questions.facts(Moment(on("2016"), NOW.known), "g", about="Ana")
    moved.tell("2024-06-01", op="end", ref="b", subject=None, invalid_at="2018")
    moved.tell("2024-07-01", op="retract", ref="b", subject=None)

    why = moved.questions.why(berlin.uuid)

    assert [c.kind for c in why.consequences] == ["superseded", "superseded", "ended", "retracted"]
    assert why.consequences[2].ends_at == day("2018")
    assert '"op":"retract"' in why.consequences[3].evidence.quote
    assert '"object":"Berlin"' in why.evidence[0].quote


def test_a_neighbourhood_is_reached_level_by_level_in_both_directions_at_one_moment(history):
    history.tell("2024-01-01", relation="knows", object="Ben", valid_at="2020")
    history.tell("2024-01-01", subject="Cem", relation="knows", object="Ben", valid_at="2020")
    history.tell("2024-01-01", subject="Cem", relation="knows", object="Dora", valid_at="2020", invalid_at="2021")
    history.tell("2024-01-01", subject="Dora", relation="knows", object="Eve", valid_at="2020")

    def reached(hops, day):
        levels = history.questions.neighbourhood("Ana", hops, Moment(on(day), NOW.known), "g")
        return [[(f.subject, f.object) for f in level.facts] for level in levels]

    assert reached(1, "2020-06") == [[("Ana", "Ben")]]
    assert reached(3, "2020-06") == [[("Ana", "Ben")], [("Cem", "Ben")], [("Cem", "Dora")]]
    assert reached(9, "2022") == [[("Ana", "Ben")], [("Cem", "Ben")], []]


def stated(**fields):
    times = {name: on(fields.pop(name)) for name in ("valid_at", "invalid_at", "said_at") if name in fields}
    return FactStatement.model_validate({"group_id": "g", "subject": "Ana", **fields, **times})


def told(history, facts, known):
    """Return what is answered as of a moment of knowledge by each question that takes one."""
    ask = history.questions
    return [
        [version.to_json() for uuid in facts for version in ask.history(uuid, known=known)],
        [version.to_json() for version in ask.history("Ana", "g", known)],
        [ask.why(uuid, known).to_json() for uuid in facts],
        [fact.to_json() for fact in ask.facts(Moment(None, known), "g")],
        [segment.to_json() for segment in ask.timeline("Ana", known, "g")],
        [profile.to_json() for profile in ask.entity("Ana", Moment(on("2022"), known), "g")],
    ]


def test_as_of_the_very_moment_of_a_message_every_answer_is_what_it_was_then(moved):
    then = {}

    def keep():  # what is answered as of a moment that no message is behind
        known = max(record.recorded_at for record in moved.semantic.read())
        facts = [fact.uuid for fact in moved.questions.facts(Moment(None, None), "g")]
        then[known] = (facts, told(moved, facts, HEAD))

    keep()
    for tell, day, fields in [
        (moved.say, "2024-03-02", {"content": "Ana -lives_in-> Munich"}),
        (moved.tell, "2024-03-03", {"relation": "lives_in", "object": "Berlin", "valid_at": "2016", "ref": "again"}),
        (moved.tell, "2024-03-04", {"relation": "rents", "object": "Flat", "valid_at": "2021"}),
        (moved.tell, "2024-03-05", {"relation": "rents", "object": "Flat", "op": "end", "invalid_at": "2023"}),
        (moved.tell, "2024-03-06", {"op": "end", "subject": None, "ref": "b", "invalid_at": "2018"}),
        (moved.tell, "2024-03-07", {"op": "correct", "ref": "p", "relation": "lives_in", "object": "Rome"}),
        (moved.tell, "2024-03-08", {"relation": "likes", "object": "Berlin"}),
        (moved.withdraw, "2024-03-09", {"number": 2}),
        (moved.tell, "2024-03-10", {"op": "retract", "subject": None, "ref": "b"}),
    ]:
        tell(day, **fields)
        keep()

    assert len(then) == 10
    for known, (facts, answered) in then.items():
        assert told(moved, facts, known) == answered, known


def test_why_tells_of_an_ending_that_came_before_its_fact_until_that_is_retracted(history):
    history.tell("2024-01-01", relation="likes", object="Flat", valid_at="2021")
    history.tell("2024-01-02", relation="rents", object="Flat", op="end", invalid_at="2023")
    history.tell("2024-01-03", relation="rents", object="Flat", valid_at="2021")
    [flat] = history.questions.facts(Moment(on("2022"), NOW.known), "g", relation="rents")

    [ending] = history.questions.why(flat.uuid).consequences
    assert (ending.kind, ending.recorded_at, ending.ends_at) == ("ended", day("2024-01-02"), day("2023"))
    history.withdraw("2024-01-04", 1)
    assert "ended" not in [one.kind for one in history.questions.why(flat.uuid).consequences]


def test_a_statement_says_a_fact_again_where_that_was_believed_of_its_start_alone(history):
    history.tell("2024-01-01", relation="lives_in", object="Rome", valid_at="2010", invalid_at="2012", ref="r")
    history.tell("2024-01-02", relation="lives_in", object="Rome", valid_at="2010", ref="at the start")
    history.tell("2024-01-03", relation="lives_in", object="Rome", valid_at="2012", ref="at the end")
    [rome] = history.questions.facts(Moment(on("2011"), on("2024-01-01")), "g")

    assert [said.name for said in history.questions.why(rome.uuid).evidence] == ["r", "at the start"]


class WatchedStore:
    """The store of a history, which counts the rows that are read for each page."""

    def __init__(self, history):
        self._store, self.read = history.beliefs, []

    def __getattr__(self, name):
        return getattr(self._store, name)

    def facts(self, *asked, **more):
        return self._count(self._store.facts(*asked, **more))

    def entities(self, *asked, **more):
        return self._count(self._store.entities(*asked, **more))

    def _count(self, rows):
        self.read.append(len(rows))
        return rows


@pytest.mark.parametrize("question", ["facts", "entities"])
def test_pages_are_parts_of_the_whole_and_read_one_row_more_than_they_answer(history, question):
    for number in range(4):
        history.tell("2024-01-01", subject=f"p{number}", relation="likes", object="p0", valid_at="2020")
    store = WatchedStore(history)
    asker = Asker(TemporalQueries(store, history.episodes))

    def asked(**page) -> Page:
        return asker.facts(NOW, "g", **page) if question == "facts" else asker.entities(NOW.known, "g", **page)

    whole = asked(limit=None)
    first = asked(limit=2)
    last = asked(limit=2, cursor=first.next)
    assert (len(whole), [*first, *last], last.next) == (4, [*whole], None)
    three = asked(limit=3)
    assert ([*three], [*asked(limit=3, cursor=three.next)], asked(limit=4).next) == (whole[:3], whole[3:], None)
    assert store.read == [4, 3, 2, 4, 1, 4]
    at = Cursor.decode(first.next)
    assert (at.valid, at.known) == (NOW.valid if question == "facts" else None, NOW.known)


def test_what_is_made_of_facts_is_made_of_all_of_them_whatever_page_is_asked_for(moved):
    page = moved.questions.overlapping(on("2010"), on("2025"), NOW.known, "g", limit=1).next
    key = Cursor.decode(page)
    whole = moved.questions.throughout(on("2016"), on("2017"), NOW.known, "g")
    changes = moved.questions.diff(Moment(on("2016"), NOW.known), NOW, "g")

    after = key._replace(question="Throughout").encode()
    assert moved.questions.throughout(on("2016"), on("2017"), NOW.known, "g", cursor=after) == whole != []
    after = key._replace(question="Diff").encode()
    assert moved.questions.diff(Moment(on("2016"), NOW.known), NOW, "g", cursor=after) == changes != []


def test_a_timeline_of_every_group_has_the_facts_of_each(moved):
    moved.tell("2024-05-01", group_id="other", relation="likes", object="Tea", valid_at="2010")

    told = moved.questions.timeline("Ana", NOW.known, None)
    assert sorted(segment.object for segment in told) == ["Berlin", "Berlin", "Munich", "Paris", "Tea"]


def test_a_point_of_a_diff_without_a_known_time_is_as_known_when_it_is_asked(moved):
    moved.tell("2024-04-01", op="retract", ref="p", subject=None)
    point = Moment(on("2019-06"), None)

    changes = moved.questions.diff(Moment(on("2019-06"), on("2024-02-15")), point, "g")
    assert {(c.change, (c.after or c.before).object) for c in changes} == {
        ("retracted", "Paris"),
        ("learned", "Berlin"),
    }
    assert moved.questions.diff(point, point, "g") == []


def test_a_fact_alone_is_the_last_of_its_periods_that_are_believed_now(moved):
    [paris] = moved.questions.facts(Moment(on("2019-06"), NOW.known), "g", about="Ana")
    [berlin] = moved.questions.facts(Moment(on("2016"), NOW.known), "g", about="Ana")
    ask = TemporalQueries(moved.beliefs, moved.episodes).fact

    last = ask(berlin.uuid)
    assert last is not None
    assert (last.valid_at, last.invalid_at) == (day("2020"), day("2024-03-01"))
    assert ask(paris.uuid) == paris
    moved.tell("2024-04-01", op="retract", ref="p", subject=None)
    assert ask(paris.uuid) is None
    assert ask("no such id") is None


def test_a_profile_has_what_happened_before_and_the_communities_of_its_own(history):
    history.tell("2024-01-01", relation="visited", object="Oslo", valid_at="2020-02-01", invalid_at="2020-02-02")
    history.say("2024-01-02", "Ana -knows-> Ben", update_communities=True)
    history.say("2024-01-02", "Cem -knows-> Dan", update_communities=True)

    [ana] = history.questions.entity("Ana", NOW, "g")
    [cem] = history.questions.entity("Cem", NOW, "g")
    assert objects(ana.facts) == ["Oslo", "Ben"]
    assert (len(ana.communities), len(cem.communities)) == (1, 1)
    assert ana.communities != cem.communities


def test_of_names_that_differ_in_their_letters_the_exact_one_is_meant(history):
    for entity_id, name in (("one", "Ana"), ("two", "Ben"), ("two", "ANA")):
        history.send("2024-01-01", EntityStatement(group_id="g", entity_id=entity_id, name=name))
    history.send("2024-01-01", EntityStatement(group_id="h", entity_id="three", name="Cem"))

    def called(name):
        return [one.uuid for one in history.questions.entity(name, NOW, "g")]

    assert (called("Ana"), called("ANA"), called("ana")) == (["one"], ["two"], ["one", "two"])
    named = {group: [one.name for one in history.beliefs.each_entity(group, HEAD)] for group in ("g", "h", None)}
    assert named == {"g": ["Ana", "Ben"], "h": ["Cem"], None: ["Ana", "Ben", "Cem"]}


def test_entities_of_one_name_that_are_one_have_one_profile(history):
    history.send("2024-01-01", EntityStatement(group_id="g", entity_id="one", name="Ana"))
    for name in ("Ben", "Ana"):
        history.send("2024-01-01", EntityStatement(group_id="g", entity_id="two", name=name))
    history.send("2024-01-03", IdentityStatement(group_id="g", op="merge", entity="one", into="two"))

    def profiles(known):
        return [one.uuid for one in history.questions.entity("Ana", Moment(None, on(known)), "g")]

    assert profiles("2024-01-02") == ["one", "two"]
    assert len(profiles("2025")) == 1


def test_a_step_goes_on_from_the_facts_that_it_answers_and_never_back(history):
    for name in ("Ben", "Cem", "Dan"):
        history.tell("2024-01-01", relation="knows", object=name, valid_at="2020")
    for name in ("Ben", "Cem", "Dan"):
        history.tell("2024-01-01", subject=name, relation="likes", object="Tea", valid_at="2020")

    steps = history.questions.neighbourhood("Ana", 2, NOW, "g", limit=1)
    assert [[(f.subject, f.object) for f in step.facts] for step in steps] == [[("Ana", "Ben")], [("Ben", "Tea")]]
    steps = history.questions.neighbourhood("Ana", 2, NOW, "g", limit=2)
    assert [len(step.facts) for step in steps] == [2, 2]


def test_an_id_is_that_of_an_entity_of_the_group_that_is_asked_about(history):
    history.tell("2024-01-01", relation="knows", object="Ben", valid_at="2020")
    [ana] = history.questions.entity("Ana", NOW, "g")
    [fact] = history.questions.facts(NOW, "g")
    history.tell("2024-01-02", group_id="h", subject="Cem", relation="knows", object="Dan", valid_at="2020")
    ask = history.questions

    def near(group):
        return [f.object for step in ask.neighbourhood(ana.uuid, 1, NOW, group) for f in step.facts]

    assert (near("g"), near(None), near("h")) == (["Ben"], ["Ben"], [])
    assert ([one.name for one in ask.entity(ana.uuid, NOW, "g")], ask.entity(ana.uuid, NOW, "h")) == (["Ana"], [])
    assert (len(ask.history(ana.uuid, "g")), ask.history(ana.uuid, "h"), ask.history(fact.uuid, "h")) == (1, [], [])
    for named in (ana.uuid, fact.uuid):
        history.tell("2024-01-03", group_id="h", subject=named, relation="knows", object="Eve", valid_at="2020")
        assert [version.object for version in ask.history(named, "h")] == ["Eve"]
    assert (near("g"), near("h")) == (["Ben"], ["Eve"])
