"""The ArangoDB adapter on a real server: the contract of every graph store, the oracle, and how each query is planned.

`make verify-arango` runs this, with ARANGO_URL=http://root:PASSWORD@HOST:8529. It makes databases of its own, whose
names begin with asof-verify, and removes them. Without a server it fails: what was not checked is not passed over.
"""

import os
from collections import Counter
from itertools import chain, count

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from asof_projections.graph.arango import aql
from asof_projections.graph.arango.connection import Address, client, database, require_version
from asof_projections.graph.arango.schema import COLLECTIONS, prefix
from asof_projections.graph.arango.wire import OPEN, key
from contract.test_arango_wire import many
from contract.test_graph_store import *  # noqa: F403 - every promise of the contract, with the fixture below
from graph_stores import LOG, LiveStores
from property.test_oracle_machine import Machine

URL = os.environ.get("ARANGO_URL", "")


@pytest.fixture  # type: ignore[no-redef]  # that of the contract gives way
def stores():
    assert URL, "ARANGO_URL names no server"
    live = LiveStores(URL)
    yield live
    live.close()


def test_the_server_is_one_that_asof_can_use(capsys) -> None:
    assert URL, "ARANGO_URL names no server"
    address = Address.parse(f"{URL.rstrip('/')}/_system")
    opened = client(address)
    found = require_version(database(opened, address), address.where)
    opened.close()
    with capsys.disabled():
        print(f"\nArangoDB {found}")  # noqa: T201 - what was verified, and on what


def test_it_agrees_with_the_oracle(stores) -> None:
    numbers, tried = count(), Counter()

    def where(_) -> dict[str, str]:
        name = f"oracle{next(numbers)}"
        stores.made.add(name)
        address = stores.address(name)
        return {"graph_url": f"{URL.rstrip('/')}/{address.database}"}

    machine = type("Tried", (Machine,), {"compared": tried, "where": where})
    run_state_machine_as_test(machine, settings=settings(max_examples=5, stateful_step_count=20))
    assert tried["points"] > 500


EVER = {"vmin": -OPEN, "vmax": OPEN, "kmin": -OPEN, "kmax": OPEN, "deeds": 0}
UNBOUND = ("subjects", "objects", "numbers", "relation", "group", "near", "relations", "types", "groups", "after")
ANY = dict.fromkeys((*UNBOUND, "object_type")) | {"limit": 10, "brief": False}
ENTITY = f"{prefix(LOG)}entities/{key('id-Ana')}"
NAMED = {"group": "g", "name": "Ana", "key": "ana", "ids": [ENTITY], "also": [], "known": OPEN // 2, "limit": 10}
ROWS = {"group": None, "after": 5, "known": OPEN, "limit": 10, "prefix": None}
OF = {"ids": [ENTITY], "group": None, "known": OPEN, "limit": 10}
VECTORS = f"{prefix(LOG)}fact_vectors"
WORDS = {"words": ["rome"], "numbers": None, "limit": 10}
NEAR = {"@rows": VECTORS, "model": "a-model", "near": [1, 0], "keys": None, "group": None, "holding": True, "limit": 10}
PLANS = [  # a query, what is bound, and indexes that its plan must use
    ("FACTS", ANY | EVER | {"subjects": [ENTITY]}, {"facts_subject|edge"}),
    ("FACTS", ANY | EVER | {"objects": ["e:id-Ana"]}, {"facts_thing"}),
    ("FACTS", ANY | EVER | {"numbers": [3]}, {"facts_fact", "reinforcements_fact", "withdrawals_episode"}),
    ("FACTS", ANY | EVER | {"relation": "knows"}, {"facts_relation"}),
    ("FACTS", ANY | EVER | {"group": "g"}, {"facts_current"}),
    ("FACTS", ANY | EVER | {"group": "g", "brief": True}, {"facts_current"}),
    ("NEAR", NEAR | EVER, {"facts_fact"}),
    ("NEAR", NEAR | EVER | {"group": "g"}, {"fact_vectors_group", "facts_fact"}),
    ("NEAR", NEAR | EVER | {"keys": ["3"]}, {"primary", "facts_fact"}),
    ("REACH", NAMED | EVER, {"names_key", "withdrawals_episode", "facts_subject|edge", "facts_object|edge"}),
    (
        "WHY",
        {"key": key("f1")},
        {"primary", "reinforcements_fact", "assertions_subject", "closings_fact", "retractions_target"},
    ),
    ("CHANGES", {"since": 3, "limit": 10, "end": OPEN}, {"facts_opened", "facts_closed"}),
    ("ABOUT", OF | {"parts": ["names"]}, {"names_entity", "withdrawals_episode"}),
    ("ABOUT", OF | {"parts": ["attributes"]}, {"attributes_entity"}),
    ("ABOUT", OF | {"parts": ["links", "mentions"]}, {"edge"}),
    ("ABOUT", OF | {"parts": ["communities"]}, {"edge"}),
    ("PAGE", ROWS | {"@rows": f"{prefix(LOG)}mentions"}, {"mentions_n"}),
    ("PAGE", ROWS | {"@rows": f"{prefix(LOG)}mentions", "group": "g"}, {"mentions_group"}),
    ("COUNTS", {"open": OPEN}, {"facts_open"}),
    ("TEXT", WORDS | EVER | {"group": "g"}, {"assertions_words", "assertions_known", "facts_fact"}),
    ("TEXT", WORDS | EVER | {"group": None}, {"assertions_words", "facts_fact"}),
    ("ERASE", {"@rows": f"{prefix(LOG)}mentions", "group": "g", "limit": 10}, {"mentions_group"}),
]


@pytest.fixture(scope="module")
def planned():
    assert URL, "ARANGO_URL names no server"
    live = LiveStores(URL)
    told = many(200)
    with live.writing() as store:
        store.apply(told.records)
        store.commit(len(told.records), b"x")
        with live.database() as db:
            yield db
    live.close()


@pytest.mark.parametrize(("name", "given", "wanted"), PLANS, ids=lambda part: part if isinstance(part, str) else "")
def test_a_query_reads_by_the_index_that_its_comment_names(planned, name, given, wanted) -> None:
    query = getattr(aql, name)
    kinds = {f"@{kind}": prefix(LOG) + kind for kind in COLLECTIONS.values()}
    bound = {bind: given[bind] if bind in given else kinds[bind] for bind in aql.binds(query)}

    planned.aql.validate(query)
    plan = planned.aql.explain(query, bind_vars=bound)
    used = {index.get("name", index["type"]) for node in plan["nodes"] for index in _indexes(node)}
    scanned = {node["collection"] for node in plan["nodes"] if node["type"] == "EnumerateCollectionNode"}
    types = {index["type"] for node in plan["nodes"] for index in _indexes(node)}

    assert all((used | types) & {*way.split("|")} for way in wanted), used
    allowed = (
        {*COLLECTIONS.values()} if name == "COUNTS" else {"communities", "fact_vectors"}
    )  # of these all are wanted
    assert scanned <= {prefix(LOG) + kind for kind in allowed}
    assert not plan.get("warnings")


def test_the_query_that_needs_an_index_of_an_operators_is_one_that_the_server_reads(planned) -> None:
    planned.aql.validate(aql.NEARLY)


def _indexes(node: dict) -> list[dict]:
    """The indexes that a node of a plan reads by; a traversal has them by where it uses them."""
    found = node.get("indexes", [])
    if isinstance(found, dict):
        return [*found.get("base", []), *chain(*found.get("levels", {}).values())]
    return found
