"""The project as a whole: versions, resources, packages, licences, and what must not be in it."""

import configparser
import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import slipstream

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "resources" / "demo"
LINUX = ROOT / "packaging" / "linux"
APP_ID = "io.github.slipstream.Slipstream"


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return dict(declared["project"])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that installing the wheel would fill."""
    built = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (archive,) = built.glob("*.whl")
    zipfile.ZipFile(archive).extractall(built / "installed")
    return built / "installed"


def test_one_version_everywhere(project: dict[str, Any]) -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[(.+?)\]", changelog, re.MULTILINE)
    assert newest
    assert slipstream.__version__ == project["version"] == newest[1]


def test_the_demo_files_are_the_ones_their_readme_describes() -> None:
    readme = (DEMO / "README.md").read_text(encoding="utf-8")
    described = dict(re.findall(r"^\| `([^`]+\.gguf)` \|.*\| `([0-9a-f]{64})` \|$", readme, re.M))
    there = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in DEMO.glob("*.gguf")
    }
    assert len(there) == 3
    assert there == described


def test_the_wheel_brings_every_resource(wheel: Path) -> None:
    source = ROOT / "resources"
    expected = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    packed = wheel / "slipstream" / "resources"
    assert {path.relative_to(packed) for path in packed.rglob("*") if path.is_file()} == expected


def test_an_installed_wheel_finds_its_resources(wheel: Path) -> None:
    code = "from slipstream.paths import resources; print(resources())"
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=wheel,
        env={**os.environ, "PYTHONPATH": str(wheel)},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert Path(found.stdout.strip()).samefile(wheel / "slipstream" / "resources")


def test_the_wheel_carries_its_licences(wheel: Path) -> None:
    names = {path.name for path in wheel.glob("*.dist-info/licenses/*")}
    assert {"LICENSE", "NOTICE"} <= names


def test_the_desktop_entry_starts_the_app_with_a_gguf_file(project: dict[str, Any]) -> None:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(LINUX / f"{APP_ID}.desktop", encoding="utf-8")
    entry = parser["Desktop Entry"]
    command, argument = entry["Exec"].split()
    assert command in project["scripts"]
    assert argument == "%f"
    assert entry["Icon"] == APP_ID
    (mime,) = ElementTree.parse(LINUX / f"{APP_ID}.mime.xml").getroot()
    assert entry["MimeType"].split(";") == [mime.attrib["type"], ""]
    assert "*.gguf" in [child.get("pattern") for child in mime]


@pytest.mark.skipif(not shutil.which("desktop-file-validate"), reason="no desktop-file-validate")
def test_the_desktop_entry_is_valid() -> None:
    entry = str(LINUX / f"{APP_ID}.desktop")
    checked = subprocess.run(
        ["desktop-file-validate", entry], capture_output=True, text=True, timeout=60, check=False
    )
    assert checked.stdout + checked.stderr == ""


def test_the_store_entry_names_the_desktop_entry(project: dict[str, Any]) -> None:
    component = ElementTree.parse(LINUX / f"{APP_ID}.metainfo.xml").getroot()
    assert component.findtext("id") == APP_ID
    assert component.findtext("launchable") == f"{APP_ID}.desktop"
    assert component.findtext("project_license") == project["license"]


@pytest.mark.parametrize("size", [16, 24, 32, 48, 64, 128, 256, 512])
def test_an_icon_has_the_size_in_its_name(size: int) -> None:
    data = (ROOT / "packaging" / "icons" / f"slipstream-{size}.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == (size, size)


def runtime_dependencies() -> Iterator[metadata.Distribution]:
    """Every distribution that installing Slipstream brings, without extras."""
    seen = {"slipstream"}
    todo = [metadata.distribution("slipstream")]
    while todo:
        for text in todo.pop().requires or []:
            needed = Requirement(text)
            name = canonicalize_name(needed.name)
            if name in seen or (needed.marker and not needed.marker.evaluate({"extra": ""})):
                continue
            seen.add(name)
            found = metadata.distribution(name)
            todo.append(found)
            yield found


def licence(distribution: metadata.Distribution) -> str:
    """What a distribution says its licence is; a choice reads "A OR B"."""
    said = distribution.metadata.json
    classifiers = [line for line in said.get("classifier", []) if line.startswith("License ::")]
    return str(said.get("license_expression") or said.get("license") or "; ".join(classifiers))


def allows_any_use(licence: str) -> bool:
    """Whether at least one of the licences offered is neither GPL nor AGPL."""
    viral = re.compile(r"\bA?GPL|(?<!Lesser )General Public|Affero", re.IGNORECASE)
    return any(choice.strip() and not viral.search(choice) for choice in licence.split(" OR "))


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("LGPL-3.0-only OR GPL-2.0-only", True),
        ("License :: OSI Approved :: GNU Lesser General Public License v3 (LGPLv3)", True),
        ("GPL-3.0-or-later", False),
        ("AGPL-3.0-only OR GPL-2.0-only", False),
        ("License :: OSI Approved :: GNU Affero General Public License v3", False),
        ("License :: OSI Approved :: GNU General Public License (GPL)", False),
        ("", False),
    ],
)
def test_gpl_is_told_from_lgpl(licence: str, allowed: bool) -> None:
    assert allows_any_use(licence) is allowed


def test_no_dependency_is_gpl_and_the_notice_names_each() -> None:
    dependencies = list(runtime_dependencies())
    assert {"pyside6-essentials", "xllamacpp"} <= {
        canonicalize_name(one.metadata["Name"]) for one in dependencies
    }
    notice = canonicalize_name((ROOT / "NOTICE").read_text(encoding="utf-8"))
    for one in dependencies:
        assert allows_any_use(licence(one)), f"{one.metadata['Name']}: {licence(one)!r}"
        assert canonicalize_name(one.metadata["Name"]) in notice


def project_texts() -> Iterator[tuple[str, str]]:
    """Path and text of every file that is or could be committed."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=60)
    for name in filter(None, listed.stdout.decode().split("\0")):
        path = ROOT / name
        if path.is_file() and b"\0" not in (data := path.read_bytes()):
            yield name, data.decode("utf-8")


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
def test_no_file_names_a_place_outside_the_project() -> None:
    # in pieces, so that this file does not name them either
    forbidden = [
        "/wo" + "rk/",
        "/ro" + "ot/",
        "../sha" + "red",
        "pypi" + ".org",
        "python" + "hosted",
        "npm" + "js",
        "deb." + "debian",
    ]
    texts = dict(project_texts())
    assert "pyproject.toml" in texts
    found = {
        f"{name}: {word}" for name, text in texts.items() for word in forbidden if word in text
    }
    assert not found
