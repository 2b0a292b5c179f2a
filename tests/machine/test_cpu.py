import os
from pathlib import Path

import psutil
import pytest

from slipstream.machine.cpu import read_cpu


def write(root: Path, name: str, content: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


@pytest.fixture
def big(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor with 8 cores and 16 threads, all of them allowed."""
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)
    monkeypatch.setattr(psutil, "cpu_count", lambda logical=True: 16 if logical else 8)


def test_this_computer_has_a_processor() -> None:
    cpu = read_cpu()
    assert cpu.name
    assert 1 <= cpu.cores <= cpu.threads


@pytest.mark.usefixtures("big")
def test_cores_and_threads(tmp_path: Path) -> None:
    cpu = read_cpu(tmp_path)
    assert (cpu.cores, cpu.threads) == (8, 16)


@pytest.mark.usefixtures("big")
def test_affinity_limits_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    cpu = read_cpu(tmp_path)
    assert (cpu.cores, cpu.threads) == (3, 3)


@pytest.mark.usefixtures("big")
@pytest.mark.parametrize(
    ("quota", "threads"),
    [("250000 100000", 2), ("50000 100000", 1), ("max 100000", 16), ("x", 16), ("5 0", 16)],
)
def test_a_quota_of_cgroup_v2(tmp_path: Path, quota: str, threads: int) -> None:
    write(tmp_path, "proc/self/cgroup", "0::/app")
    write(tmp_path, "sys/fs/cgroup/app/cpu.max", quota)
    assert read_cpu(tmp_path).threads == threads


@pytest.mark.usefixtures("big")
@pytest.mark.parametrize(("quota", "threads"), [("400000", 4), ("-1", 16)])
def test_a_quota_of_cgroup_v1(tmp_path: Path, quota: str, threads: int) -> None:
    write(tmp_path, "proc/self/cgroup", "1:cpu,cpuacct:/\n0::/")
    write(tmp_path, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", quota)
    write(tmp_path, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000")
    assert read_cpu(tmp_path).threads == threads


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="Linux's way to name a processor")
@pytest.mark.parametrize(
    ("cpuinfo", "name"),
    [
        ("processor\t: 0\nmodel name\t: AMD Ryzen 9 7950X\n", "AMD Ryzen 9 7950X"),
        ("processor: 0\nModel\t\t: Raspberry Pi 5\n", "Raspberry Pi 5"),
    ],
)
def test_the_name_is_the_maker_s(tmp_path: Path, cpuinfo: str, name: str) -> None:
    write(tmp_path, "proc/cpuinfo", cpuinfo)
    assert read_cpu(tmp_path).name == name


def test_a_processor_without_a_name_still_has_one(tmp_path: Path) -> None:
    assert read_cpu(tmp_path).name
