"""A file of API keys, and the header that sends one."""

from pathlib import Path

READ, WRITE, ADMIN = "read-key-0123456789", "write-key-0123456789", "admin-key-0123456789"
TEAM_READ, TEAM_WRITE, TEAM_ADMIN = "team-read-0123456789", "team-write-0123456789", "team-admin-0123456789"


def written(path: Path) -> Path:
    """Write a file with a key of each permission, for all groups and for those of a team."""
    tables = [
        f'[{key[:-11]}]\nkey = "{key}"\npermission = "{permission}"\n{groups}'
        for key, permission, groups in [
            (READ, "read", ""),
            (WRITE, "write", ""),
            (ADMIN, "admin", ""),
            (TEAM_READ, "read", 'groups = "team-"\n'),
            (TEAM_WRITE, "write", 'groups = "team-"\n'),
            (TEAM_ADMIN, "admin", 'groups = "team-"\n'),
        ]
    ]
    path.write_text("\n".join(tables))
    path.chmod(0o600)
    return path


def sent(key: str) -> dict[str, str]:
    """Return the header that sends a key."""
    return {"Authorization": f"Bearer {key}"}
