from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest

from slipstream.machine.memory import Memory, read_memory

GIB = 1 << 30


@pytest.fixture
def computer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A computer with 16 GiB, 10 of them free."""

    class System:
        total = 16 * GIB
        available = 10 * GIB

    monkeypatch.setattr(psutil, "virtual_memory", System)


def write(root: Path, files: Mapping[str, object]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content}\n")
    return root


def test_this_computer_has_memory() -> None:
    memory = read_memory()
    assert 0 < memory.free <= memory.total


@pytest.mark.usefixtures("computer")
def test_without_control_groups_it_is_the_system_s(tmp_path: Path) -> None:
    assert read_memory(tmp_path) == Memory(16 * GIB, 10 * GIB)


@pytest.mark.usefixtures("computer")
def test_a_limit_of_cgroup_v2(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "0::/app/child",
        "sys/fs/cgroup/app/memory.max": 8 * GIB,
        "sys/fs/cgroup/app/memory.current": 3 * GIB,
        "sys/fs/cgroup/app/memory.stat": f"anon 5\ninactive_file {GIB}",
        "sys/fs/cgroup/app/child/memory.max": "max",
        "sys/fs/cgroup/app/child/memory.current": 2 * GIB,
    }
    # What is cached and inactive would be given up.
    assert read_memory(write(tmp_path, files)) == Memory(8 * GIB, 6 * GIB)


@pytest.mark.usefixtures("computer")
def test_a_limit_of_cgroup_v1_seen_from_inside_a_container(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n0::/",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": 4 * GIB,
        "sys/fs/cgroup/memory/memory.usage_in_bytes": 5 * GIB,
    }
    assert read_memory(write(tmp_path, files)) == Memory(4 * GIB, 0)


@pytest.mark.usefixtures("computer")
def test_no_limit_changes_nothing(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "4:memory:/\n0::/",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": 9223372036854771712,
        "sys/fs/cgroup/memory/memory.usage_in_bytes": GIB,
    }
    assert read_memory(write(tmp_path, files)) == Memory(16 * GIB, 10 * GIB)


@pytest.mark.usefixtures("computer")
def test_a_limit_above_what_is_free_changes_only_the_total(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "0::/",
        "sys/fs/cgroup/memory.max": 12 * GIB,
        "sys/fs/cgroup/memory.current": GIB,
    }
    assert read_memory(write(tmp_path, files)) == Memory(12 * GIB, 10 * GIB)


def test_a_system_that_does_not_answer_is_unknown_not_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError("no /proc")

    monkeypatch.setattr(psutil, "virtual_memory", fail)
    assert read_memory(tmp_path) == Memory(0, 0)


@pytest.mark.usefixtures("computer")
@pytest.mark.parametrize("garbage", ["", "::::", "0::/../../etc", "x\0y", "4:memory", "0"])
def test_garbage_is_ignored(tmp_path: Path, garbage: str) -> None:
    files = {"proc/self/cgroup": garbage, "sys/fs/cgroup/memory.max": "many"}
    assert read_memory(write(tmp_path, files)) == Memory(16 * GIB, 10 * GIB)
