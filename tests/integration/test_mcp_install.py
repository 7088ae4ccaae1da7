"""`asof mcp install`: for each client, in a home of its own, what is written, and that all else stays."""

import json
import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from asof.mcp.install import jsonc
from asof.mcp.install.changes import FileChange, text_of
from asof.mcp.install.clients import CLIENTS, Machine, System, client_named, file_of
from asof.mcp.install.entries import with_entry
from asof.mcp.install.plan import InstallPlan, InstallRequest, plan
from asof.mcp.install.rules import with_rules
from asof.mcp.install.workspace import group_of_repository, key_of_remote, root_of
from asof.operations.errors import InvalidInput
from asof.settings import Settings
from asof_process import ASOF, launcher

SYSTEMS: tuple[System, ...] = ("linux", "darwin", "win32")
ADDRESS = "http://127.0.0.1:8000/mcp"
FILES = {  # of a user, by client: those of the clients' own documentation
    "claude-code": (".claude.json",) * 3,
    "claude-desktop": (
        ".config/Claude/claude_desktop_config.json",
        "Library/Application Support/Claude/claude_desktop_config.json",
        "AppData/Roaming/Claude/claude_desktop_config.json",
    ),
    "codex": (".codex/config.toml",) * 3,
    "cursor": (".cursor/mcp.json",) * 3,
    "gemini": (".gemini/settings.json",) * 3,
    "vscode": (
        ".config/Code/User/mcp.json",
        "Library/Application Support/Code/User/mcp.json",
        "AppData/Roaming/Code/User/mcp.json",
    ),
    "windsurf": (".codeium/windsurf/mcp_config.json",) * 3,
    "zed": (".config/zed/settings.json", ".config/zed/settings.json", "AppData/Roaming/Zed/settings.json"),
}
COMMENTED = """\
// Settings of the editor.
{
    "theme": "One Dark", // dark
    /* servers */
    "%s": {
        "other": {"command": "other", "args": ["//no comment", "{"], },
        // "off": {}
    },
    "tab_size": 4,
}
"""
TOML = '# Mine.\nmodel = "x" # the model\n\n[mcp_servers.other]\ncommand = "other"\n'


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with a remote."""
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "--quiet")
    git(root, "remote", "add", "origin", "git@github.com:Octo-Cat/Hello.git")
    return root.resolve()


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


def machine(home: Path, system: System = "linux", **environment: str) -> Machine:
    return Machine(system, home, environment)


def planned(client: str, home: Path, folder: Path, /, **asked: Any) -> InstallPlan:
    request = InstallRequest(client_named(client), command=["/opt/asof/bin/asof"], **asked)
    return plan(request, Settings(), machine(home), folder)


def servers_in(name: str, file: Path) -> dict[str, Any]:
    text = file.read_text("utf-8")
    whole: dict[str, Any] = tomllib.loads(text) if file.suffix == ".toml" else jsonc.parse(text)
    servers: dict[str, Any] = whole[CLIENTS[name].servers]
    return servers


# Where and what.


def test_every_client_has_its_file_on_every_system(tmp_path: Path) -> None:
    assert FILES.keys() == CLIENTS.keys()
    for name, files in FILES.items():
        found = [file_of(client_named(name), "user", machine(tmp_path, system), None) for system in SYSTEMS]
        assert found == [tmp_path / file for file in files]


def test_folders_that_the_user_has_moved_are_used(tmp_path: Path) -> None:
    moved = machine(tmp_path, XDG_CONFIG_HOME="/c", CODEX_HOME="/x", XDG_DATA_HOME="/d")

    assert file_of(client_named("zed"), "user", moved, None) == Path("/c/zed/settings.json")
    assert file_of(client_named("codex"), "user", moved, None) == Path("/x/config.toml")
    assert moved.data == Path("/d/asof")


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_without_a_file_gets_one_that_starts_the_server(name: str, tmp_path: Path) -> None:
    change = planned(name, tmp_path, tmp_path, scope="user", group="team").changes[0]
    assert change.write() is None

    entry = servers_in(name, change.path)["asof"]
    assert entry["command"] == "/opt/asof/bin/asof"
    assert entry["args"] == ["mcp", "--data", str(tmp_path / ".local/share/asof"), "--group", "team"]
    assert entry.get("env", {}) == ({} if name == "claude-desktop" else {"ASOF_ONTOLOGY": "agent_memory_v1"})
    assert change.path.stat().st_mode & 0o077 == 0
    assert not planned(name, tmp_path, tmp_path, scope="user", group="team").changes[0].is_needed


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_comments_order_and_other_entries_stay(name: str, newline: str, tmp_path: Path) -> None:
    client = client_named(name)
    file = file_of(client, "user", machine(tmp_path), None)
    text = (TOML if file.suffix == ".toml" else COMMENTED % client.servers).replace("\n", newline)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    file.chmod(0o644)

    change = planned(name, tmp_path, tmp_path, scope="user").changes[0]
    copy = change.write()

    after = file.read_bytes().decode()
    assert [line for line in text.splitlines() if line not in after.splitlines()] == []
    assert after.count("\n") == after.count(newline)
    assert servers_in(name, file).keys() == {"other", "asof"}
    assert copy is not None
    assert (copy.read_bytes().decode(), copy.name) == (text, f"{file.name}.before-asof")
    assert file.stat().st_mode & 0o777 == 0o644
    assert {one for one in file.parent.iterdir() if one.is_file()} == {file, copy}


@pytest.mark.parametrize("name", CLIENTS)
def test_another_entry_of_the_name_is_never_overwritten(name: str, tmp_path: Path) -> None:
    planned(name, tmp_path, tmp_path, scope="user").changes[0].write()
    file = file_of(client_named(name), "user", machine(tmp_path), None)
    before = file.read_bytes()

    with pytest.raises(InvalidInput, match="another entry is called 'asof': choose another --name"):
        planned(name, tmp_path, tmp_path, scope="user", group="other")
    assert file.read_bytes() == before
    planned(name, tmp_path, tmp_path, scope="user", group="other", name="asof-2").changes[0].write()
    assert servers_in(name, file).keys() == {"asof", "asof-2"}


@pytest.mark.parametrize("name", CLIENTS)
def test_an_address_has_the_form_of_the_client(name: str, tmp_path: Path) -> None:
    if name == "claude-desktop":
        with pytest.raises(InvalidInput, match="takes no address from its file"):
            planned(name, tmp_path, tmp_path, scope="user", url=ADDRESS)
        return
    change = planned(name, tmp_path, tmp_path, scope="user", url=ADDRESS).changes[0]
    change.write()

    key = {"windsurf": "serverUrl", "gemini": "httpUrl"}.get(name, "url")
    assert servers_in(name, change.path)["asof"][key] == ADDRESS
    grouped = planned(name, tmp_path, tmp_path, scope="user", url=ADDRESS, group="team", name="team").changes[0]
    assert f'"{ADDRESS}/team"' in grouped.after


# Files that cannot be added to.


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "no JSON object"),
        ('{"mcpServers": []}', "is no object"),
        ('{"mcpServers": {"a": }}', "line 1 is no JSON"),
        ('{\n"a": 1\n"b": 2}', "line 3 is no JSON"),
        ("{", "no JSON"),
        ("{} {}", "no JSON"),
        ("[" * 5_000, "no JSON"),
    ],
)
def test_a_file_that_is_not_understood_is_left_alone(text: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    with pytest.raises(InvalidInput, match=reason) as refused:
        with_entry(file, text, client_named("cursor"), "asof", {"url": ADDRESS})
    assert str(file) in str(refused.value)


@pytest.mark.parametrize("text", ["mcp_servers = {}\n", "mcp_servers = 1\n", "a = \n", "[[mcp_servers]]\n"])
def test_toml_that_takes_no_table_is_left_alone(text: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"config\.toml: "):
        with_entry(tmp_path / "config.toml", text, client_named("codex"), "asof", {"url": ADDRESS})


@pytest.mark.parametrize("name", ["", "a b", 'a"', "a.b", "ü"])
def test_a_name_is_one_that_every_form_takes(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="--name"):
        planned("cursor", tmp_path, tmp_path, scope="user", name=name)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{ }",
        "{\n}\n",
        '{"mcpServers":{}}',
        '{"mcpServers": {\n  // none\n  }}',
        '{"a": 1,}',
        '{"a": "\\"//", "b": [1, {"c": 2,},], "mcpServers": {"o": {}}}',
        "// only\n{}",
        "\n",
    ],
)
def test_an_entry_is_added_to_every_layout(text: str, tmp_path: Path) -> None:
    after = with_entry(tmp_path / "mcp.json", text, client_named("cursor"), "asof", {"url": ADDRESS})

    before = jsonc.parse(text) if text.strip() else {}
    servers = {**before.get("mcpServers", {}), "asof": {"url": ADDRESS}}
    assert jsonc.parse(after) == {**before, "mcpServers": servers}
    assert text.count("//") == after.replace(ADDRESS, "").count("//")


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    change = planned("cursor", tmp_path, tmp_path, scope="user").changes[0]
    change.path.parent.mkdir()
    change.path.write_text("{}")

    with pytest.raises(InvalidInput, match="changed meanwhile"):
        change.write()
    assert change.path.read_text() == "{}"


def test_a_link_is_followed_and_copies_have_names_of_their_own(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles" / "mcp.json", tmp_path / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}")
    link.symlink_to(real)

    copies = [FileChange(link, text_of(link), text).write() for text in ('{"a": 1}', '{"a": 2}')]

    assert link.is_symlink()
    assert real.read_text() == '{"a": 2}'
    assert [copy.name for copy in copies if copy] == ["mcp.json.before-asof", "mcp.json.before-asof-2"]


# The project: its file, its group, its rules.


@pytest.mark.parametrize("name", CLIENTS)
def test_a_project_has_its_own_file_and_the_group_of_its_remote(name: str, tmp_path: Path, repository: Path) -> None:
    (repository / "inner").mkdir()
    found = planned(name, tmp_path, repository / "inner")
    project = client_named(name).project

    if project is None:
        assert found.group == "default"
        with pytest.raises(InvalidInput, match="--scope user"):
            planned(name, tmp_path, repository, scope="project")
    else:
        assert found.changes[0].path == repository / project
        assert found.group == group_of_repository(repository)
        assert planned(name, tmp_path, tmp_path).changes[0].path.is_relative_to(tmp_path)
        with pytest.raises(InvalidInput, match="no git repository"):
            planned(name, tmp_path, tmp_path, scope="project")


@pytest.mark.parametrize(
    ("remote", "key"),
    [
        ("git@github.com:Octo-Cat/Hello.git", "github_repo:octo-cat/hello"),
        ("https://github.com/Octo-Cat/Hello", "github_repo:octo-cat/hello"),
        ("https://user:secret@github.com/octo-cat/hello.git/", "github_repo:octo-cat/hello"),
        ("ssh://git@ssh.github.com:443/octo-cat/hello.git", "github_repo:octo-cat/hello"),
        ("https://gitlab.example.org:8443/a/b/c.git", "git_repo:gitlab.example.org/a/b/c"),
        ("git@gitlab.example.org:a/b/c.git", "git_repo:gitlab.example.org/a/b/c"),
        ("/srv/git/hello.git", None),
        ("../hello", None),
        ("", None),
    ],
)
def test_the_key_of_a_remote_is_the_same_however_it_is_written(remote: str, key: str | None) -> None:
    assert key_of_remote(remote) == key


def test_a_repository_without_a_remote_has_a_group_of_its_own(tmp_path: Path) -> None:
    groups = set()
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        git(tmp_path / name, "init", "--quiet")
        root = root_of(tmp_path / name)
        assert root is not None
        groups.add(group_of_repository(root))

    assert len(groups) == 2
    assert all(group.startswith("workspace-") for group in groups)


def test_rules_are_a_section_that_is_replaced_as_a_whole(tmp_path: Path, repository: Path) -> None:
    (repository / "AGENTS.md").write_text("# Ours\n\nBe kind.\n")
    for name in ("asof", "memory"):
        for change in planned("cursor", tmp_path, repository, rules=True, name=name).changes:
            change.write()

    text = (repository / "AGENTS.md").read_text()
    assert text.startswith("# Ours\n\nBe kind.\n\n<!-- asof: begin -->\n## Memory")
    assert text.count("<!-- asof: begin -->") == text.count("<!-- asof: end -->") == 1
    assert "`memory`" in text
    assert "`asof`" not in text
    assert with_rules(text + "After.\n", "memory") == text + "After.\n"
    with pytest.raises(InvalidInput, match="reads no file of rules"):
        planned("claude-desktop", tmp_path, repository, rules=True)
    with pytest.raises(InvalidInput, match="git repository"):
        planned("cursor", tmp_path, tmp_path, rules=True)


# The command.


def run(home: Path, folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if key not in {"XDG_CONFIG_HOME", "XDG_DATA_HOME"}}
    return subprocess.run(
        launcher("mcp", "install", *options),
        cwd=folder,
        env={**kept, "HOME": str(home), **environment},
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


def test_the_command_shows_what_it_writes_and_writes_it_only_when_told(tmp_path: Path, repository: Path) -> None:
    shown = run(tmp_path, repository, "cursor", "--print", "--json")
    unasked = run(tmp_path, repository, "cursor")
    assert (shown.returncode, unasked.returncode) == (0, 1)
    assert '+    "asof": {' in shown.stderr
    assert not (repository / ".cursor").exists()

    written = run(tmp_path, repository, "cursor", "--yes", "--json")
    told = json.loads(written.stdout)
    assert told == {
        "group_id": group_of_repository(repository),
        "files": [str(repository / ".cursor/mcp.json")],
        "written": True,
    }
    entry = servers_in("cursor", repository / ".cursor/mcp.json")["asof"]
    assert entry["command"] == str(ASOF)
    again = run(tmp_path, repository, "cursor", "--yes")
    assert (again.returncode, again.stderr) == (0, "All of it is there already.\n")


def test_the_directory_and_the_ontology_that_are_set_are_written(tmp_path: Path) -> None:
    run(tmp_path, tmp_path, "zed", "--yes", "--data", "mine", ASOF_ONTOLOGY="default")
    run(tmp_path, tmp_path, "gemini", "--yes", ASOF_DATA="/srv/memory", ASOF_ONTOLOGY="own.yaml")

    zed = servers_in("zed", tmp_path / ".config/zed/settings.json")["asof"]
    gemini = servers_in("gemini", tmp_path / ".gemini/settings.json")["asof"]
    assert zed["args"][2] == str(tmp_path / "mine")
    assert gemini["args"][2] == "/srv/memory"
    assert gemini["env"]["ASOF_ONTOLOGY"].endswith("own.yaml")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "say which client: asof mcp install CLIENT"),
        (("emacs",), "no such client: choose one of claude-desktop, claude-code, cursor,"),
        (("cursor", "--url", "127.0.0.1:8000"), "--url: it is no address"),
        (("cursor", "--group", "a\tb"), "a group id"),
    ],
)
def test_a_wrong_call_says_what_to_do(options: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    ended = run(tmp_path, tmp_path, *options)

    assert ended.returncode == 2
    assert sentence in ended.stderr
    assert list(tmp_path.iterdir()) == []
