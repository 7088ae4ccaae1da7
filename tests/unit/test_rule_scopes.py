"""The scopes of rules of work: the path or the area that a rule says it is of, and the rules that hold for a path."""

import pytest

from asof_projections.retrieval.rule_scopes import closeness, named_paths
from reading import AGENT_MEMORY, check

SCOPED = [
    "In src/api always use httpx",
    "In src/api, all handlers must be async",
    "In `src/api`, always validate input with pydantic",
    "In src/api we never call the database directly",
    "Under tests/ never import from src/internal",
    "For the frontend, use pnpm",
    "For src/web/**/*.ts, prefer named exports",
    "In *.py files, never use print",
    "For the Python tests, always use fixtures",
    "Inside docs/ keep lines under 100 characters",
    "When you work in src/api, use httpx",
    "When editing migrations, always add a test",
    "Use pnpm for the frontend",
    "Don't use any in src/web",
]


@pytest.mark.parametrize("opening", ["", "Please remember: "])
@pytest.mark.parametrize("rule", SCOPED)
def test_a_rule_of_a_path_or_an_area_is_kept_whole_with_its_scope(rule: str, opening: str) -> None:
    check(f"{opening}{rule}.", f"I has_rule {rule}", extractor=AGENT_MEMORY)


@pytest.mark.parametrize(
    "text",
    [
        "In src/api there is a bug.",
        "In src/api/users.py, add a check for null.",
        "In tests/, use the new fixture.",
        "For the frontend, use it now.",
        "In the frontend we never looked at that.",
        "In src/api, don't forget the header.",
        "Should we use pnpm for the frontend?",
        "In March always.",
        "In src/api.",
        "Use the new client in src/api.",
    ],
)
def test_what_is_said_of_a_path_or_to_be_done_there_once_is_no_rule(text: str) -> None:
    check(text, extractor=AGENT_MEMORY)


ON_THE_WAY = [
    ("In src/api, always use httpx", 2),
    ("In `src/`, always use type hints", 2),
    ("When you work in src/api/users.py, use httpx", 3),
    ("Never edit src/api/users.py by hand", 3),
    ("Files in src/*/users.py must have a test", 3),
    ("In **/api, never log a token", 2),
    ("In *.py files, never use print", 2),
    ("Always use type hints in src/api", 2),
    ("Do not touch api/", 2),
    ("When editing src/api, always add a test", 2),
    ("Before you change src, put", 0),
    ("Don't touch anything under api", 2),
]
OF_NO_PATH = [
    "Never commit to main",
    "For the frontend, use pnpm",
    "Run scripts/check.sh before you commit",
    "Put new migrations in db/migrations",
    "Keep CI/CD green",
    "Always follow https://example.org/style/guide when you edit code",
    "In the tests, never sleep",
]
ELSEWHERE = [
    "In tests/, never use sleep",
    "Under tests/ never import from src/internal",
    "In src/web/**/*.ts, prefer named exports",
    "In *.ts files, prefer named exports",
    "Don't edit files in src/generated",
    "In /etc/nginx, always run nginx -t",
    "When editing src/db, always add a migration",
    "Never edit files under migrations",
]


@pytest.mark.parametrize("place", ["src/api/users.py", "./src/api/users.py", "/shop/src/api/users.py"])
def test_a_path_has_its_own_rules_and_those_of_folders_above_and_those_of_no_path(place: str) -> None:
    paths = named_paths(f"What do I keep in mind when I edit `{place}`?")

    assert [(rule, closeness(rule, paths)) for rule, _ in ON_THE_WAY] == ON_THE_WAY
    assert [closeness(rule, paths) for rule in OF_NO_PATH] == [0] * len(OF_NO_PATH)
    assert [closeness(rule, paths) for rule in ELSEWHERE] == [None] * len(ELSEWHERE)


def test_a_folder_has_the_rules_of_what_lies_beneath_it_too() -> None:
    assert closeness("In src/api/users.py, always use httpx", named_paths("rules for src/api")) == 3
    assert closeness("In src/api, always use httpx", named_paths("rules for src/")) == 2
    assert closeness("In src/generated/**, never edit by hand", named_paths("src/generated")) == 3


@pytest.mark.parametrize(
    "text",
    [
        "Which rules are there?",
        "CI/CD and/or TCP/IP, 24/7 since 5/12/2024",
        "What does https://example.org/src/api say?",
        "users.py",
        "/ // ./ ../..",
        "a/" * 50,
        "**/" * 3 + "a",
    ],
)
def test_what_is_no_path_names_none(text: str) -> None:
    assert named_paths(text) == []


def test_any_text_is_compared_in_bounded_time() -> None:
    paths = named_paths("**/a/" * 2 + "a/" * 15)

    assert closeness("In " + "**/a/" * 2 + "a/" * 14 + "b, never use x", paths) is None
    assert closeness("In " + "/" * 5_000 + "." * 5_000, paths) == 0
