"""The tables of the SQLite graph, and its indexes with what each is for.

One schema serves both layers. The integer key `n` of a row is the position of the record that made it, so it is never
used twice and a rebuild gives the same keys, also after an erasure. Instants are integers with sentinels, never null.
A row of `posts` has the n of the turn, the feedback or the goal that it is, and what a chat tells of it. A row of
`post_withdrawals` has the n of the withdrawn feedback or goal, and the position of the withdrawal.
A row of `deeds` has the n of the assertion or reinforcement that tells of an occurrence or of a plan, a row of
`literals` that of one which gives its object as a number, or has qualifiers.
The words of an entity's own name are of no episode (''), those of other names of that which gave it.
A fact's `object` is an INTEGER (an entity's n) or a TEXT (a literal); its column has no affinity: the two stay apart.
"""

import sqlite3
from hashlib import sha256
from pathlib import Path
from typing import Final

from asof_projections.graph.sqlite_store.statement_codec import with_packed_body
from asof_streams.chain import genesis
from asof_streams.errors import ContractError, DamagedView
from asof_streams.instants import INF

# To be raised when the same events make other rows in the same tables. 2: files of revision 1 may have copies of erased
# rows in free space, so they are built anew.
_REVISION: Final = "2"

# The statements with `hashsize` let FTS gather so many bytes of words before it writes them. A turn is an episode with
# words of its own: a structured fact is found by its sentence, and suppressed content is not there.
TABLES: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE groups (n INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE relations (n INTEGER PRIMARY KEY, grp INTEGER NOT NULL, name TEXT NOT NULL);
CREATE TABLE cardinalities (relation TEXT NOT NULL, single INTEGER NOT NULL, grp INTEGER NOT NULL,
    PRIMARY KEY (relation, grp)) WITHOUT ROWID;

CREATE TABLE episodes (n INTEGER PRIMARY KEY, uuid TEXT NOT NULL, grp INTEGER NOT NULL, cause INTEGER NOT NULL,
    name TEXT NOT NULL, source TEXT NOT NULL, source_description TEXT NOT NULL, role TEXT NOT NULL,
    role_type TEXT NOT NULL, body TEXT NOT NULL, content_length INTEGER NOT NULL,
    valid_at INTEGER NOT NULL, created_at INTEGER NOT NULL);
CREATE TABLE mentions (n INTEGER PRIMARY KEY, uuid TEXT NOT NULL, grp INTEGER NOT NULL, episode TEXT NOT NULL,
    type TEXT NOT NULL, text TEXT NOT NULL, folded TEXT NOT NULL, start INTEGER NOT NULL, speaker INTEGER NOT NULL,
    repeats TEXT, created_at INTEGER NOT NULL);
CREATE TABLE relationships (n INTEGER PRIMARY KEY, uuid TEXT NOT NULL, grp INTEGER NOT NULL, episode TEXT NOT NULL,
    relation TEXT NOT NULL, source TEXT NOT NULL, target TEXT NOT NULL, stance TEXT NOT NULL,
    valid_from INTEGER, valid_to INTEGER, grain TEXT, time_words TEXT, confidence REAL NOT NULL,
    start INTEGER NOT NULL, stop INTEGER NOT NULL, created_at INTEGER NOT NULL);
CREATE TABLE answers (n INTEGER PRIMARY KEY, grp INTEGER NOT NULL, request TEXT NOT NULL, answered TEXT NOT NULL);
CREATE TABLE withdrawals (n INTEGER PRIMARY KEY, grp INTEGER NOT NULL, episode TEXT NOT NULL, cause INTEGER NOT NULL,
    created_at INTEGER NOT NULL);
CREATE TABLE posts (n INTEGER PRIMARY KEY, uuid TEXT NOT NULL, grp INTEGER NOT NULL, cause INTEGER NOT NULL,
    kind TEXT NOT NULL, external TEXT, reply_to TEXT, author TEXT, is_proactive INTEGER NOT NULL,
    suppressed INTEGER NOT NULL, edited_at INTEGER);
CREATE TABLE feedback (n INTEGER PRIMARY KEY, uuid TEXT NOT NULL, grp INTEGER NOT NULL, role TEXT NOT NULL,
    role_type TEXT NOT NULL, content TEXT NOT NULL, valid_at INTEGER NOT NULL, created_at INTEGER NOT NULL,
    withdrawn_at INTEGER NOT NULL);
CREATE TABLE goals (n INTEGER PRIMARY KEY, uuid TEXT NOT NULL, grp INTEGER NOT NULL, role TEXT NOT NULL,
    role_type TEXT NOT NULL, content TEXT NOT NULL, description TEXT NOT NULL, saliency REAL NOT NULL,
    valid_at INTEGER NOT NULL, created_at INTEGER NOT NULL, withdrawn_at INTEGER NOT NULL);
CREATE TABLE timezones (n INTEGER PRIMARY KEY, grp INTEGER NOT NULL, cause INTEGER NOT NULL, timezone TEXT NOT NULL);
CREATE TABLE failures (n INTEGER PRIMARY KEY, grp INTEGER NOT NULL, cause INTEGER NOT NULL, request TEXT NOT NULL,
    failed TEXT NOT NULL);
CREATE TABLE parked (n INTEGER PRIMARY KEY, grp INTEGER NOT NULL, cause INTEGER NOT NULL, reason TEXT NOT NULL,
    created_at INTEGER NOT NULL, state TEXT NOT NULL);
CREATE TABLE retries (n INTEGER PRIMARY KEY, grp INTEGER NOT NULL, cause INTEGER NOT NULL, created_at INTEGER NOT NULL);

CREATE TABLE entities (n INTEGER PRIMARY KEY, uuid TEXT NOT NULL, grp INTEGER NOT NULL, name TEXT NOT NULL, type TEXT,
    episode TEXT NOT NULL, created_at INTEGER NOT NULL);
CREATE TABLE names (n INTEGER PRIMARY KEY, grp INTEGER NOT NULL, entity INTEGER NOT NULL, name TEXT NOT NULL,
    key TEXT NOT NULL, episode TEXT NOT NULL, created_at INTEGER NOT NULL);
CREATE TABLE words (grp INTEGER NOT NULL, word TEXT NOT NULL, entity INTEGER NOT NULL, episode TEXT NOT NULL,
    PRIMARY KEY (grp, word, entity, episode)) WITHOUT ROWID;
CREATE TABLE resolutions (n INTEGER PRIMARY KEY, grp INTEGER NOT NULL, mention TEXT NOT NULL, episode TEXT NOT NULL,
    entity INTEGER NOT NULL, reason TEXT NOT NULL, score REAL NOT NULL, created_at INTEGER NOT NULL);
CREATE TABLE links (n INTEGER PRIMARY KEY, uuid TEXT NOT NULL, grp INTEGER NOT NULL, duplicate INTEGER NOT NULL,
    into_ INTEGER NOT NULL, reason TEXT NOT NULL, kf INTEGER NOT NULL, kt INTEGER NOT NULL, closed INTEGER,
    CHECK (kf < kt));
CREATE TABLE attributes (n INTEGER PRIMARY KEY, grp INTEGER NOT NULL, entity INTEGER NOT NULL, name TEXT NOT NULL,
    value TEXT NOT NULL, folded TEXT NOT NULL, confidence REAL NOT NULL, support REAL NOT NULL,
    attested INTEGER NOT NULL, holds INTEGER NOT NULL, said_at INTEGER NOT NULL, episode TEXT NOT NULL,
    stated TEXT NOT NULL, created_at INTEGER NOT NULL);
CREATE TABLE communities (n INTEGER PRIMARY KEY, uuid TEXT NOT NULL, grp INTEGER NOT NULL, name TEXT NOT NULL,
    episode TEXT NOT NULL, created_at INTEGER NOT NULL);
CREATE TABLE memberships (entity INTEGER NOT NULL, grp INTEGER NOT NULL, community INTEGER NOT NULL,
    kf INTEGER NOT NULL, kt INTEGER NOT NULL, CHECK (kf < kt), PRIMARY KEY (entity, kf)) WITHOUT ROWID;

CREATE TABLE objectives (n INTEGER PRIMARY KEY, uuid TEXT NOT NULL, grp INTEGER NOT NULL, description TEXT NOT NULL,
    saliency REAL NOT NULL, status TEXT NOT NULL, said_at INTEGER NOT NULL, kf INTEGER NOT NULL, kt INTEGER NOT NULL,
    CHECK (kf < kt));
CREATE TABLE objective_goals (n INTEGER PRIMARY KEY, objective TEXT NOT NULL, goal TEXT NOT NULL, grp INTEGER NOT NULL,
    saliency REAL NOT NULL, created_at INTEGER NOT NULL, withdrawn_at INTEGER NOT NULL);
CREATE TABLE consolidations (n INTEGER PRIMARY KEY, uuid TEXT NOT NULL, grp INTEGER NOT NULL, until INTEGER NOT NULL,
    complete INTEGER NOT NULL, communities_detected INTEGER NOT NULL, communities_changed_nodes INTEGER NOT NULL,
    entity_duplicates_found INTEGER NOT NULL, entity_merges_performed INTEGER NOT NULL,
    nodes_decayed INTEGER NOT NULL, failed TEXT NOT NULL, created_at INTEGER NOT NULL);

CREATE TABLE facts (n INTEGER PRIMARY KEY, uuid TEXT NOT NULL, grp INTEGER NOT NULL, s INTEGER NOT NULL,
    relation INTEGER NOT NULL, object NOT NULL, sentence TEXT NOT NULL, confidence REAL NOT NULL,
    stated_from INTEGER NOT NULL, stated_to INTEGER NOT NULL, said_at INTEGER NOT NULL,
    attested INTEGER NOT NULL, echoes INTEGER NOT NULL, cause INTEGER NOT NULL, place INTEGER NOT NULL,
    created_at INTEGER NOT NULL, expired_at INTEGER NOT NULL, grain TEXT, time_words TEXT,
    episode TEXT NOT NULL, relationship TEXT, ref TEXT, corrects TEXT, dead INTEGER NOT NULL);
CREATE TABLE versions (n INTEGER PRIMARY KEY, fact INTEGER NOT NULL, grp INTEGER NOT NULL, s INTEGER NOT NULL,
    relation INTEGER NOT NULL, object NOT NULL, vf INTEGER NOT NULL, vt INTEGER NOT NULL,
    kf INTEGER NOT NULL, kt INTEGER NOT NULL, opened INTEGER NOT NULL, closed INTEGER,
    CHECK (vf < vt AND kf < kt));
CREATE TABLE reinforcements (n INTEGER PRIMARY KEY, fact INTEGER NOT NULL, grp INTEGER NOT NULL,
    said_at INTEGER NOT NULL, episode TEXT NOT NULL, relationship TEXT, created_at INTEGER NOT NULL);
CREATE TABLE deeds (n INTEGER PRIMARY KEY, fact INTEGER NOT NULL, grp INTEGER NOT NULL, vf INTEGER NOT NULL,
    vt INTEGER NOT NULL, occurrence INTEGER NOT NULL, planned INTEGER NOT NULL, episode TEXT NOT NULL,
    created_at INTEGER NOT NULL, CHECK (vf < vt));
CREATE TABLE literals (n INTEGER PRIMARY KEY, fact INTEGER NOT NULL, grp INTEGER NOT NULL, number INTEGER NOT NULL,
    qualifiers TEXT NOT NULL, episode TEXT NOT NULL, created_at INTEGER NOT NULL);
CREATE TABLE endings (n INTEGER PRIMARY KEY, uuid TEXT NOT NULL, grp INTEGER NOT NULL, s INTEGER NOT NULL,
    relation INTEGER NOT NULL, object, fact TEXT, at INTEGER NOT NULL, said_at INTEGER NOT NULL,
    episode TEXT NOT NULL, relationship TEXT, created_at INTEGER NOT NULL, dead INTEGER NOT NULL);
CREATE TABLE retractions (n INTEGER PRIMARY KEY, uuid TEXT NOT NULL, grp INTEGER NOT NULL, target TEXT NOT NULL,
    episode TEXT NOT NULL, reason TEXT NOT NULL, created_at INTEGER NOT NULL, dead INTEGER NOT NULL);
CREATE TABLE contradictions (n INTEGER PRIMARY KEY, uuid TEXT NOT NULL, grp INTEGER NOT NULL, earlier TEXT NOT NULL,
    later TEXT NOT NULL, created_at INTEGER NOT NULL, settled_at INTEGER NOT NULL, kept TEXT, dropped TEXT);
CREATE TABLE closings (n INTEGER PRIMARY KEY, fact INTEGER NOT NULL, grp INTEGER NOT NULL, kind TEXT NOT NULL,
    statement TEXT NOT NULL, cause INTEGER NOT NULL, created_at INTEGER NOT NULL);

CREATE VIEW sentences AS SELECT n, sentence, 'g' || grp AS grp FROM facts;
CREATE VIRTUAL TABLE sentence_words USING fts5 (sentence, grp, content = 'sentences', content_rowid = 'n',
    columnsize = 0, tokenize = "porter unicode61 remove_diacritics 2");
INSERT INTO sentence_words (sentence_words, rank) VALUES ('hashsize', 8388608);

CREATE VIEW turns AS SELECT n, substr(body, -content_length) AS content, role AS speaker, 'g' || grp AS grp
    FROM episodes WHERE source <> 'fact' AND content_length > 0;
CREATE VIRTUAL TABLE turn_words USING fts5 (content, speaker, grp, content = 'turns', content_rowid = 'n',
    columnsize = 0, tokenize = "porter unicode61 remove_diacritics 2");
INSERT INTO turn_words (turn_words, rank) VALUES ('hashsize', 8388608);
"""

# Readers hide a withdrawal until it is believed. This table is not in TABLES: ArangoDB is asked for no posts, and
# digests hold no positions.
_WITHDRAWALS: Final = """CREATE TABLE post_withdrawals (post INTEGER PRIMARY KEY, grp INTEGER NOT NULL,
    withdrawal INTEGER NOT NULL)"""

GROUPED: Final = (  # every table whose rows belong to a group
    "relations", "cardinalities", "episodes", "mentions", "relationships", "answers", "failures", "withdrawals",
    "timezones", "parked", "retries", "entities", "names", "words", "resolutions", "links", "attributes",
    "communities", "memberships", "facts", "versions", "reinforcements", "deeds", "literals", "endings",
    "retractions", "contradictions", "closings", "consolidations", "posts", "feedback", "goals", "objectives",
    "objective_goals", "post_withdrawals",
)  # fmt: skip

# An id is as good as random, so that each new one changes a page of its index; by the start of ids an index has a third
# of the pages, so that fewer are to be written.
_START: Final = "substr({}, 1, 8)"


def has_id(column: str, given: str) -> str:
    """Return the condition that a column which is indexed by the start of ids has the given id."""
    return f"{_START.format(column)} = {_START.format(given)} AND +{column} = {given}"  # else SQLite puts it for both


def has_start(column: str, start: str, *, whole: bool) -> str:
    """Return the condition that a column begins so: one that is indexed as a `whole`, or else by the start of ids."""
    begins = f"{column} >= {start} AND {column} < {start} || '~'"
    if whole:
        return begins
    first = _START.format(start)
    return f"{_START.format(column)} >= {first} AND {_START.format(column)} < {first} || '~' AND {begins}"


# What applying events itself needs, so that a bulk load has them from the start.
KEYS: Final = {
    "group_name": "UNIQUE INDEX group_name ON groups (name)",
    "relation_name": "UNIQUE INDEX relation_name ON relations (grp, name)",
    "entity_uuid": "UNIQUE INDEX entity_uuid ON entities (uuid)",
    "link_uuid": "INDEX link_uuid ON links (uuid)",  # a merge taken back and made again has two rows
    "ending_uuid": "UNIQUE INDEX ending_uuid ON endings (uuid)",
    "retraction_uuid": "UNIQUE INDEX retraction_uuid ON retractions (uuid)",
    "contradiction_uuid": "UNIQUE INDEX contradiction_uuid ON contradictions (uuid)",
    "community_uuid": "UNIQUE INDEX community_uuid ON communities (uuid)",
    "turn": "INDEX turn ON episodes (n) WHERE source <> 'fact' AND content_length > 0",  # an erasure reads their texts
    "version_fact": "INDEX version_fact ON versions (fact, kt)",  # close what is open of a fact; its history
}

# What handlers ask while a message is taken: a bulk load that they fill has them once it asks for them.
ASKED: Final = {
    "fact_slot": "INDEX fact_slot ON facts (s, relation, object) WHERE dead = 0",  # its assertions
    "fact_ref": "INDEX fact_ref ON facts (grp, ref) WHERE ref IS NOT NULL",  # a producer's own id
    "ending_slot": "INDEX ending_slot ON endings (s, relation)",  # the endings of a slot
    "fact_recorded": "INDEX fact_recorded ON facts (created_at)",  # what one message said; it grows at its end alone
    "reinforcement_recorded": "INDEX reinforcement_recorded ON reinforcements (created_at)",
    "ending_recorded": "INDEX ending_recorded ON endings (created_at)",
    "retraction_recorded": "INDEX retraction_recorded ON retractions (created_at)",
    "deed_fact": "INDEX deed_fact ON deeds (fact)",  # the granules of an occurrence
    "literal_fact": "INDEX literal_fact ON literals (fact)",  # numbers and qualifiers of a fact
    "reinforcement_fact": "INDEX reinforcement_fact ON reinforcements (fact)",  # the episodes of a fact
    "retraction_target": "INDEX retraction_target ON retractions (target)",  # who retracts this
    "contradiction_earlier": f"INDEX contradiction_earlier ON contradictions (earlier) WHERE settled_at = {INF}",
    "contradiction_later": f"INDEX contradiction_later ON contradictions (later) WHERE settled_at = {INF}",
    "name_key": "INDEX name_key ON names (grp, key)",  # entities by name, exact or normalised
    "link_duplicate": "INDEX link_duplicate ON links (duplicate)",  # identity, walked both ways
    "link_into": "INDEX link_into ON links (into_)",
    "link_known": "INDEX link_known ON links (grp, kf)",  # the merges of one message
    "resolution_mention": f"INDEX resolution_mention ON resolutions ({_START.format('mention')})",  # what it means
    "episode_uuid": f"INDEX episode_uuid ON episodes ({_START.format('uuid')})",
    "episode_recent": "INDEX episode_recent ON episodes (grp, source, valid_at)",  # the turns before a message
    "episode_group": "INDEX episode_group ON episodes (grp, created_at)",  # how many since the last consolidation
    "entity_known": "INDEX entity_known ON entities (grp, created_at)",  # how many are old
    "withdrawal_episode": "INDEX withdrawal_episode ON withdrawals (episode)",
    "withdrawal_cause": "INDEX withdrawal_cause ON withdrawals (cause)",  # whether a message withdrew something
    "post_external": "INDEX post_external ON posts (grp, external)",  # what a chat tells of a message again
    "feedback_uuid": "INDEX feedback_uuid ON feedback (uuid)",
    "goal_uuid": "INDEX goal_uuid ON goals (uuid)",
    "objective_uuid": "INDEX objective_uuid ON objectives (uuid, kt)",
    "objective_goal": "INDEX objective_goal ON objective_goals (goal)",
    "goal_objective": "INDEX goal_objective ON objective_goals (objective)",
    "timezone_group": "INDEX timezone_group ON timezones (grp, cause)",  # by which a message's times are read
    "mention_episode": "INDEX mention_episode ON mentions (episode)",
    "answer_request": "INDEX answer_request ON answers (grp, request)",  # what a model answered to this
    "failure_cause": "INDEX failure_cause ON failures (cause)",  # what a model did not answer about a message
    "parked_cause": "INDEX parked_cause ON parked (cause)",  # whether a message is parked
    "retry_cause": "INDEX retry_cause ON retries (cause)",
    "attribute_held": "INDEX attribute_held ON attributes (entity, name) WHERE holds = 1",  # what is believed of it
    "attribute_episode": "INDEX attribute_episode ON attributes (episode)",  # what an episode said of things
    "attribute_value": "INDEX attribute_value ON attributes (entity, name, folded)",  # what was said of one value
    "consolidation_group": "INDEX consolidation_group ON consolidations (grp, n)",  # the last one of a group
    "mention_name": "INDEX mention_name ON mentions (grp, folded)",  # the type a name had before
}

_NOW, _PAST = f"WHERE kt = {INF}", f"WHERE kt < {INF}"

# What readers need besides. What is believed now and what once was have indexes of their own: a question about now
# never walks through history. None is led by a time, which would be chosen for an entity and cost 3,500 times more.
READ: Final = {
    "fact_uuid": f"INDEX fact_uuid ON facts ({_START.format('uuid')})",  # handlers know most facts by their slot
    "now_subject": f"INDEX now_subject ON versions (s, relation, vf) {_NOW}",  # an entity or a slot, as of now
    "now_object": f"INDEX now_object ON versions (object, vf) {_NOW}",  # who points here; a literal's facts
    "now_relation": f"INDEX now_relation ON versions (relation, vf) {_NOW}",  # all facts of one relation of a group
    "now_group": f"INDEX now_group ON versions (grp, vf) {_NOW}",  # the facts of a group in order of time
    "opened_group": "INDEX opened_group ON versions (grp, kf)",  # what a consolidation has not looked at yet
    "past_subject": f"INDEX past_subject ON versions (s, kt, relation) {_PAST}",  # the same for what was given up
    "past_object": f"INDEX past_object ON versions (object, kt) {_PAST}",
    "past_relation": f"INDEX past_relation ON versions (relation, kt) {_PAST}",
    "past_group": f"INDEX past_group ON versions (grp, kt) {_PAST}",
    "relation_called": "INDEX relation_called ON relations (name)",  # one relation in every group
    "version_opened": "INDEX version_opened ON versions (opened)",  # changes since a position
    "version_closed": "INDEX version_closed ON versions (closed) WHERE closed IS NOT NULL",
    "fact_corrects": "INDEX fact_corrects ON facts (corrects) WHERE corrects IS NOT NULL",  # what replaced it
    "closing_fact": "INDEX closing_fact ON closings (fact)",  # why a fact was given up
    "name_entity": "INDEX name_entity ON names (entity)",  # the aliases of an entity
    "entity_group": "INDEX entity_group ON entities (grp, n)",  # the entities of a group, oldest first
    "resolution_entity": "INDEX resolution_entity ON resolutions (entity)",  # how often an entity was mentioned
    "community_group": "INDEX community_group ON communities (grp, n)",  # the communities of a group, oldest first
    "membership_community": "INDEX membership_community ON memberships (community, kt)",  # who is of a community
    "feedback_group": "INDEX feedback_group ON feedback (grp, n)",  # the feedback of a group, and its objectives
    "objective_group": "INDEX objective_group ON objectives (grp, n)",
    "mention_uuid": f"INDEX mention_uuid ON mentions ({_START.format('uuid')})",
    "relationship_uuid": f"INDEX relationship_uuid ON relationships ({_START.format('uuid')})",
}

WORDS: Final = {"sentence_words": "sentences", "turn_words": "turns"}  # full-text indexes, and what each is of

INDEXES: Final = KEYS | ASKED | READ

_LAYOUT: Final = (
    with_packed_body(TABLES).rstrip("; \n"),
    _WITHDRAWALS,
    *(f"CREATE {index}" for index in INDEXES.values()),
)
_STATEMENTS: Final = frozenset(statement.strip() for part in _LAYOUT for statement in part.split(";"))
_META: Final = next(statement for statement in _STATEMENTS if statement.startswith("CREATE TABLE meta "))
VERSION: Final = f"{_REVISION}-{sha256(';'.join(_LAYOUT).encode()).hexdigest()[:8]}"


def script(log: str) -> str:
    """Return the statements that lay out an empty store that follows `log`."""
    start = (
        f"INSERT INTO meta VALUES ('schema', '{VERSION}'), ('log', '{log}'), ('position', 0), ('erased', 0), "
        f"('head', x'{genesis(log).hex()}')"
    )
    return ";".join([*_LAYOUT, start])


def check(db: sqlite3.Connection, path: Path, log: str) -> None:
    """Refuse a store of another schema, or of another log."""
    meta: dict[str, str] = {}
    if db.execute("SELECT sql FROM sqlite_schema WHERE name = 'meta'").fetchone() == (_META,):
        meta.update(db.execute("SELECT key, value FROM meta WHERE key IN ('schema', 'log')"))
    found = meta.get("schema", "none")
    if found != VERSION:
        raise ContractError(f"{path} has graph schema {found}, this asof reads {VERSION}: rebuild it from its log")
    expect_own_statements(db, path)
    if meta["log"] != log:
        raise ContractError(f"{path} follows the log {meta['log']}, not {log}")


def expect_own_statements(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a store that holds a view, a trigger or a virtual table which is not of this schema.

    Those are programs that SQLite runs, and somebody else may have made the file.
    """
    found = {sql for (sql,) in db.execute("SELECT sql FROM sqlite_schema WHERE rootpage = 0 AND sql IS NOT NULL")}
    if found - _STATEMENTS:
        raise DamagedView(f"{path} has statements in it that asof did not make: move it away, it is made anew")
