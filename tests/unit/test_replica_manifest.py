"""The manifest of a replica, which several processes may write at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from asof.runtime.replica_manifest import ReplicaManifest, copied, keep


def test_a_copy_that_several_begin_at_once_is_begun_by_all(tmp_path: Path) -> None:
    wanted = ReplicaManifest("asof", 1)
    with ThreadPoolExecutor(8) as pool:
        for number in range(20):
            root = tmp_path / str(number)
            assert list(pool.map(lambda _, root=root: keep(root, wanted), range(8))) == [None] * 8

            assert copied(root) == wanted
