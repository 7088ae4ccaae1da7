"""The repository around a folder, and the group of its memory: the same for everybody who works on it."""

import re
import subprocess
from pathlib import Path
from typing import Final

from asof.operations.messages import canonical_group

_URL: Final = re.compile(r"[a-z+]+://(?:[^/@]*@)?(?P<host>[^/:]+)(?::\d+)?/(?P<path>.+)", re.IGNORECASE)
_SHORT: Final = re.compile(r"(?:[^@/:]+@)?(?P<host>[^/:]+):(?P<path>[^/].*)")  # git@github.com:owner/name.git
_SECONDS: Final = 10


def root_of(folder: Path) -> Path | None:
    """Return the root of the git repository that a folder is in; None: it is in none, or there is no git."""
    found = _git(folder, "rev-parse", "--show-toplevel")
    return Path(found) if found else None


def group_of_repository(root: Path) -> str:
    """Return the group of a repository: by its remote, or by its path where it has none.

    It is the one that `POST /groups/resolve` gives for the workspace `github_repo:owner/name`.
    """
    remote = _git(root, "config", "--get", "remote.origin.url")
    return canonical_group("workspace", key_of_remote(remote) or f"folder:{root}")


def key_of_remote(remote: str) -> str | None:
    """Return the key of a remote, without user, password and port; None: it is a path of this machine, or none."""
    found = _URL.fullmatch(remote.strip()) or _SHORT.fullmatch(remote.strip())
    if found is None:
        return None
    host, path = found["host"].lower(), found["path"].strip("/").removesuffix(".git").lower()
    return f"github_repo:{path}" if host in {"github.com", "ssh.github.com"} else f"git_repo:{host}/{path}"


def _git(folder: Path, *arguments: str) -> str:
    """Return what git answers; nothing, if it cannot."""
    try:
        answer = subprocess.run(  # noqa: S603 - of a fixed form, without a shell
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - the user's own git
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""
