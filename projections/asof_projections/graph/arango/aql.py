"""All queries for ArangoDB, each with the indexes that it uses.

Every variable part is bound, names of collections too (@@); a condition whose bind is null is removed before planning.
A collection is bound by its kind; its real name has the log's name in front (arango/schema.py). `again` are the
reinforcements of a fact, `withdrawn` the withdrawn episodes among its statements, `vmin` to `kmax` the window on both
clocks, `deeds` whether it takes what happened before as well, and what was planned. No query sorts by text, since the
order would depend on the server's locale.
"""

import re
from functools import cache
from typing import Final

_BIND: Final = re.compile(r"@(@?\w+)")

# Facts by subject, object, number, relation or group; with @brief their numbers alone. Reads facts by facts_subject,
# facts_object, facts_fact, facts_relation or facts_group, whichever of those is bound first, then one of
# reinforcements_fact for each; which of its episodes were withdrawn, by withdrawals_episode; and, for types, its ends
# by key. @near, @relations, @types and @groups are the filters of a search.
FACTS: Final = """
FOR f IN @@facts
  FILTER @subjects == null OR f._from IN @subjects
  FILTER @objects == null OR f.thing IN @objects
  FILTER @numbers == null OR f.fact IN @numbers
  FILTER @relation == null OR f.relation == @relation
  FILTER @group == null OR f.grp == @group
  FILTER @near == null OR f._from IN @near OR f._to IN @near
  FILTER @relations == null OR f.relation IN @relations
  FILTER @groups == null OR f.grp IN @groups
  FILTER f.vf <= @vmax OR @deeds AND f.planned == 1
  FILTER f.vt > @vmin OR @deeds AND f.occurrence == 1
  FILTER f.kf <= @kmax AND f.kt > @kmin
  LET types = (
    FOR e IN @@entities
      FILTER @object_type != null
      FILTER e._id == f._to
      RETURN e.type)
  FILTER @object_type == null OR types[0] == @object_type
  LET ends = (
    FOR e IN @@entities
      FILTER @types != null
      FILTER e._id IN [f._from, f._to] AND e.type IN @types
      RETURN 1)
  FILTER @types == null OR LENGTH(ends) > 0
  FILTER @after == null OR [f.vf, f.fact, f.kf] > @after
  SORT f.vf, f.fact, f.kf
  LIMIT @limit
  LET again = (
    FOR r IN @@reinforcements
      FILTER NOT @brief
      FILTER r.fact == f.fact AND r.created_at <= @kmax
      SORT r.n
      RETURN r)
  LET said = APPEND(again[*].episode, [f.episode])
  LET withdrawn = (
    FOR w IN @@withdrawals
      FILTER NOT @brief
      FILTER w.episode IN said AND w.created_at <= @kmin
      RETURN w.episode)
  RETURN @brief ? f.fact : { row: f, again: again, withdrawn: withdrawn }
"""

# The entities with a name (exactly, else by its key) or an id, all their duplicates, and the facts from and to them:
# one step of a traversal. Reads names by names_key, entities by key, duplicate_of by its edge index, three links far
# from those and from @also, facts by facts_subject and facts_object, what says them as in FACTS; and, of names and
# facts, what withdrawn episodes gave by withdrawals_episode. `more`: there may be duplicates further away, which are
# found with `same` as @also. A walk along paths would take all ways round every circle of duplicates.
REACH: Final = """
LET named = (
  FOR m IN @@names
    FILTER m.key == @key AND m.created_at <= @known
    FILTER @group == null OR m.grp == @group
    LET withdrawn = (
      FOR w IN @@withdrawals
        FILTER w.episode == m.episode AND w.created_at <= @known
        RETURN 1)
    FILTER m.n == m.entity OR LENGTH(withdrawn) == 0
    RETURN { entity: m.entity_id, exact: m.name == @name })
LET exact = named[* FILTER CURRENT.exact].entity
LET meant = UNIQUE(LENGTH(exact) > 0 ? exact : named[*].entity)
LET starts = (
  FOR e IN @@entities
    FILTER e._id IN (LENGTH(meant) > 0 ? meant : @ids)
    FILTER @group == null OR e.grp == @group
    RETURN e._id)
LET zero = UNIQUE(APPEND(starts, @also))
LET to_one = (
  FOR l IN @@duplicate_of
    FILTER l._from IN zero OR l._to IN zero
    FILTER l.kf <= @known AND l.kt > @known
    RETURN [l._from, l._to])
LET one = UNIQUE(APPEND(zero, FLATTEN(to_one)))
LET to_two = (
  FOR l IN @@duplicate_of
    FILTER l._from IN one OR l._to IN one
    FILTER l.kf <= @known AND l.kt > @known
    RETURN [l._from, l._to])
LET two = UNIQUE(APPEND(one, FLATTEN(to_two)))
LET to_same = (
  FOR l IN @@duplicate_of
    FILTER l._from IN two OR l._to IN two
    FILTER l.kf <= @known AND l.kt > @known
    RETURN [l._from, l._to])
LET same = UNIQUE(APPEND(two, FLATTEN(to_same)))
LET alike = (
  FOR e IN @@entities
    FILTER e._id IN same
    RETURN e.uuid)
LET called = (
  FOR e IN @@entities
    FILTER e._id IN meant
    SORT e.n
    RETURN e)
LET outward = (
  FOR f IN @@facts
    FILTER f._from IN same
    FILTER @group == null OR f.grp == @group
    FILTER f.vf <= @vmax OR @deeds AND f.planned == 1
    FILTER f.vt > @vmin OR @deeds AND f.occurrence == 1
    FILTER f.kf <= @kmax AND f.kt > @kmin
    SORT f.vf, f.fact, f.kf
    LIMIT @limit
    LET again = (
      FOR r IN @@reinforcements
        FILTER r.fact == f.fact AND r.created_at <= @kmax
        SORT r.n
        RETURN r)
    LET said = APPEND(again[*].episode, [f.episode])
    LET withdrawn = (
      FOR w IN @@withdrawals
        FILTER w.episode IN said AND w.created_at <= @kmin
        RETURN w.episode)
    RETURN { row: f, again: again, withdrawn: withdrawn })
LET inward = (
  FOR f IN @@facts
    FILTER f._to IN same
    FILTER @group == null OR f.grp == @group
    FILTER f.vf <= @vmax OR @deeds AND f.planned == 1
    FILTER f.vt > @vmin OR @deeds AND f.occurrence == 1
    FILTER f.kf <= @kmax AND f.kt > @kmin
    SORT f.vf, f.fact, f.kf
    LIMIT @limit
    LET again = (
      FOR r IN @@reinforcements
        FILTER r.fact == f.fact AND r.created_at <= @kmax
        SORT r.n
        RETURN r)
    LET said = APPEND(again[*].episode, [f.episode])
    LET withdrawn = (
      FOR w IN @@withdrawals
        FILTER w.episode IN said AND w.created_at <= @kmin
        RETURN w.episode)
    RETURN { row: f, again: again, withdrawn: withdrawn })
RETURN { called: called, exact: LENGTH(exact) > 0, alike: alike, outward: outward, inward: inward, same: same,
         more: LENGTH(same) > LENGTH(two) }
"""

# The provenance of a fact; @retracted: also its repetitions that count no longer. Reads assertions by key,
# reinforcements, closings and endings by theirs of a fact, assertions_corrects, assertions_subject, retractions_target;
# what a closing names by key.
WHY: Final = """
FOR a IN @@assertions
  FILTER a._key == @key
  LET again = (
    FOR r IN @@reinforcements
      FILTER r.fact == a.n
      SORT r.n
      RETURN r)
  LET corrected_by = (
    FOR c IN @@assertions
      FILTER c.corrects == a.uuid
      SORT c.n
      RETURN c.uuid)
  LET repetitions = (
    FOR p IN @@assertions
      FILTER p.subject_uuid == a.subject_uuid AND p.relation == a.relation AND p.thing == a.thing
      FILTER p.n > a.n AND (p.dead == 0 OR @retracted)
      SORT p.n
      RETURN p)
  LET endings = (
    FOR e IN @@endings
      FILTER e.s == a.s AND e.relation == a.relation AND e.grp == a.grp AND e.at > a.stated_from
      FILTER e.object == null OR e.thing == a.thing
      FILTER e.fact == null OR e.fact == a.uuid
      SORT e.n
      RETURN e)
  LET retractions = (
    FOR r IN @@retractions
      FILTER r.target == a.uuid
      SORT r.n
      RETURN r)
  LET closings = (
    FOR c IN @@closings
      FILTER c.fact == a.n
      SORT c.n
      LET asserted = (FOR s IN @@assertions FILTER s._key == c.statement_key RETURN s)
      LET ended = (FOR s IN @@endings FILTER s._key == c.statement_key RETURN s)
      LET retracted = (FOR s IN @@retractions FILTER s._key == c.statement_key RETURN s)
      RETURN { row: c, source: FIRST(APPEND(asserted, APPEND(ended, retracted))) })
  RETURN { row: a, again: again, corrected_by: corrected_by, repetitions: repetitions, endings: endings,
           retractions: retractions, closings: closings }
"""

# What retracted some statements by a moment, with the target of each. Reads retractions_target.
RETRACTED_BY: Final = """
FOR r IN @@retractions
  FILTER r.target IN @targets AND r.created_at <= @known
  RETURN [r.uuid, r.target]
"""

# The versions that messages after a position opened and closed, with the reinforcements of each fact known by then; the
# changes of a message are never parted. Reads facts by facts_opened and facts_closed.
CHANGES: Final = """
LET opened = (FOR f IN @@facts FILTER f.opened > @since SORT f.opened LIMIT @limit RETURN f.opened)
LET closed = (FOR f IN @@facts FILTER f.closed > @since SORT f.closed LIMIT @limit RETURN f.closed)
LET last = NTH(SORTED(APPEND(opened, closed)), @limit - 1)
LET stop = last == null ? @end : last
LET changes = APPEND(
  (FOR f IN @@facts FILTER f.opened > @since AND f.opened <= stop RETURN { at: f.opened, opened: 1, row: f }),
  (FOR f IN @@facts FILTER f.closed > @since AND f.closed <= stop RETURN { at: f.closed, opened: 0, row: f }))
FOR c IN changes
  SORT c.at, c.opened, c.row.n
  LET known = c.opened == 1 ? c.row.kf : c.row.kt
  LET again = (
    FOR r IN @@reinforcements
      FILTER r.fact == c.row.fact AND r.created_at <= known
      SORT r.n
      RETURN r)
  RETURN { at: c.at, opened: c.opened, known: known, row: c.row, again: again }
"""

# Parts of what is known of entities, those in @parts: their names, their attributes that hold, the duplicate_of
# links that touch them, how many mentions mean them, and the communities that have members, with those: all, those of a
# group, or those that have one of the entities. Reads names_entity, withdrawals_episode, attributes_entity,
# communities_group, else edge indexes and keys.
ABOUT: Final = """
LET names = (
  FOR m IN @@names
    FILTER "names" IN @parts
    FILTER m.entity_id IN @ids AND m.created_at <= @known
    LET withdrawn = (
      FOR w IN @@withdrawals
        FILTER w.episode == m.episode AND w.created_at <= @known
        RETURN 1)
    FILTER m.n == m.entity OR LENGTH(withdrawn) == 0
    SORT m.n
    RETURN m.name)
LET attributes = (
  FOR a IN @@attributes
    FILTER "attributes" IN @parts
    FILTER a.entity_id IN @ids AND a.holds == 1 AND a.created_at <= @known
    SORT a.n
    RETURN a)
LET links = (
  FOR l IN @@duplicate_of
    FILTER "links" IN @parts
    FILTER l._from IN @ids OR l._to IN @ids
    FILTER l.kf <= @known
    SORT l.n
    RETURN l)
LET mentions = FIRST(
  FOR m IN @@mention_links
    FILTER "mentions" IN @parts
    FILTER m._to IN @ids AND m.created_at <= @known
    COLLECT WITH COUNT INTO counted
    RETURN counted)
LET theirs = (
  FOR m IN @@member_of
    FILTER "communities" IN @parts AND @ids != null
    FILTER m._from IN @ids AND m.kf <= @known AND m.kt > @known
    RETURN m._to)
LET communities = (
  FOR c IN @@communities
    FILTER "communities" IN @parts
    FILTER @ids == null OR c._id IN theirs
    FILTER @group == null OR c.grp == @group
    FILTER c.created_at <= @known
    LET members = (
      FOR m IN @@member_of
        FILTER m._to == c._id AND m.kf <= @known AND m.kt > @known
        SORT m.kf, m.entity
        LET entity = FIRST(FOR e IN @@entities FILTER e._id == m._from RETURN e)
        RETURN entity)
    FILTER LENGTH(members) > 0
    SORT c.n
    LIMIT @limit
    RETURN { row: c, members: members })
RETURN { names: names, attributes: attributes, links: links, mentions: mentions, communities: communities }
"""

# A page of one collection, in log order; with @prefix, names whose key begins so. Reads by <collection>_n, or by
# <collection>_group where a group is bound.
PAGE: Final = """
FOR d IN @@rows
  FILTER @group == null OR d.grp == @group
  FILTER @prefix == null OR STARTS_WITH(d.key, @prefix)
  FILTER d.n > @after AND d.recorded_at <= @known
  SORT d.n
  LIMIT @limit
  RETURN d
"""

# The number of documents of each kind. Two of the counts read by facts_group's and duplicate_of's kt; all else is
# counted. A message counts as parked or failed until it is retried: each is an exception, of which a memory has few.
COUNTS: Final = """
LET unsettled = (
  FOR p IN @@parked
    FILTER LENGTH(FOR r IN @@retries FILTER r.cause == p.cause AND r.n > p.n LIMIT 1 RETURN 1) == 0
    RETURN DISTINCT { state: p.state, cause: p.cause })
RETURN {
  episodes: LENGTH(@@episodes), mentions: LENGTH(@@mentions), relationships: LENGTH(@@relationships),
  entities: LENGTH(@@entities), facts: LENGTH(@@assertions), versions: LENGTH(@@facts),
  merges: LENGTH(FOR l IN @@duplicate_of FILTER l.kt == @open RETURN 1),
  open_versions: LENGTH(FOR f IN @@facts FILTER f.kt == @open RETURN 1),
  parked: LENGTH(FOR p IN unsettled FILTER p.state == "parked" RETURN 1),
  failed: LENGTH(FOR p IN unsettled FILTER p.state == "failed" RETURN 1),
  names: LENGTH(@@names), formed: LENGTH(@@communities),
  communities: LENGTH(FOR m IN @@member_of FILTER m.kt == @open RETURN DISTINCT m._to),
  contradictions: LENGTH(FOR c IN @@contradictions FILTER c.settled_at == @open RETURN 1)
}
"""

# Facts whose sentence has one of some words and that hold, best first, by BM25 among the facts of the group that were
# known: nobody else's words, and no later ones, show in a score. Reads assertions by assertions_known and
# assertions_words; then facts by facts_fact, from the best on until there are enough.
TEXT: Final = """
LET every = FIRST(
  FOR a IN @@assertions
    FILTER @group == null OR a.grp == @group
    FILTER a.recorded_at <= @kmax
    COLLECT WITH COUNT INTO counted
    RETURN counted)
LET found = FLATTEN(
  FOR word IN @words
    LET having = (
      FOR a IN @@assertions
        FILTER word IN a.words[*]
        FILTER @group == null OR a.grp == @group
        FILTER a.recorded_at <= @kmax
        RETURN { n: a.n, long: LENGTH(a.words) })
    LET weight = LOG(SUM([every, 1]) / SUM([LENGTH(having), 0.5]))
    RETURN having[* RETURN { n: CURRENT.n, long: CURRENT.long, weight: weight }])
FOR each IN found
  COLLECT n = each.n, long = each.long AGGREGATE weight = SUM(each.weight)
  FILTER @numbers == null OR n IN @numbers
  LET score = ROUND(1000000 * weight / SUM([1, 1.2 * SUM([0.25, 0.75 * long / 5])]))
  SORT score DESC, n
  LET held = (
    FOR f IN @@facts
      FILTER f.fact == n
      FILTER f.vf <= @vmax OR @deeds AND f.planned == 1
      FILTER f.vt > @vmin OR @deeds AND f.occurrence == 1
      FILTER f.kf <= @kmax AND f.kt > @kmin
      LIMIT 1
      RETURN 1)
  FILTER LENGTH(held) > 0
  LIMIT @limit
  RETURN [n, score]
"""

# The nearest vectors of a model: among all, some keys, or the facts that hold. Reads what is bound:
# one of the collections of vectors, by key or <collection>_group where those are, and then facts by facts_fact.
NEAR: Final = """
FOR v IN @@rows
  FILTER v.model == @model
  FILTER @keys == null OR v._key IN @keys
  FILTER @group == null OR v.grp == @group
  LET held = (
    FOR f IN @@facts
      FILTER @holding AND f.fact == v.n
      FILTER f.vf <= @vmax OR @deeds AND f.planned == 1
      FILTER f.vt > @vmin OR @deeds AND f.occurrence == 1
      FILTER f.kf <= @kmax AND f.kt > @kmin
      LIMIT 1
      RETURN 1)
  FILTER NOT @holding OR LENGTH(held) > 0
  LET score = COSINE_SIMILARITY(v.vector, @near)
  SORT score DESC, v.n
  LIMIT @limit
  RETURN [v._key, score]
"""

# As NEAR, of candidates that an approximate index gives, of which those stay that hold. Reads the vector index that an
# operator made; then facts by facts_fact. With more between the first FILTER, SORT and LIMIT it would not be used.
NEARLY: Final = """
LET candidates = (
  FOR v IN @@rows
    FILTER v.model == @model AND (@group == null OR v.grp == @group)
    LET score = APPROX_NEAR_COSINE(v.vector, @near)
    SORT score DESC
    LIMIT @candidates
    RETURN { key: v._key, n: v.n, score: score })
FOR c IN candidates
  LET held = (
    FOR f IN @@facts
      FILTER f.fact == c.n
      FILTER f.vf <= @vmax OR @deeds AND f.planned == 1
      FILTER f.vt > @vmin OR @deeds AND f.occurrence == 1
      FILTER f.kf <= @kmax AND f.kt > @kmin
      LIMIT 1
      RETURN 1)
  FILTER LENGTH(held) > 0
  SORT c.score DESC, c.n
  LIMIT @limit
  RETURN [c.key, c.score]
"""

# Remove documents of a group from one collection, so many at most. Reads it by <collection>_group.
ERASE: Final = """
FOR d IN @@rows
  FILTER d.grp == @group
  LIMIT @limit
  REMOVE d IN @@rows
  RETURN 1
"""


@cache
def binds(query: str) -> frozenset[str]:
    """Return the names of a query's bind parameters; that of a collection begins with @."""
    return frozenset(_BIND.findall(query))
