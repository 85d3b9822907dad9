"""A package of somebody else's is installed, found by its entry points, and keeps the contracts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent / "kernelwright-plugin-example"
NAMES = {
    "BACKENDS": "eager",
    "GENERATORS": "verbatim",
    "MODELS": "parrot",
    "STORES": "volatile",
    "STRATEGIES": "wander",
}

LOOK = """
import json
from kernelwright.wiring import registries
names = ("BACKENDS", "GENERATORS", "MODELS", "STORES", "STRATEGIES")
found = {name: list(getattr(registries, name).names()) for name in names}
made = {
    name: getattr(registries, name).factory(list(getattr(registries, name).names())[-1]).__name__
    for name in names
}
print(json.dumps([found, made]))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package into a folder of its own, without a network."""
    folder = tmp_path_factory.mktemp("site")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", *options]
        + ["--target", str(folder), str(PACKAGE)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stderr}\nfix: pip install hatchling"
    return folder


def run(installed: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_installing_it_leaves_the_source_folder_as_it_was(installed: Path) -> None:
    assert (installed / "kernelwright_plugin_example" / "strategy.py").is_file()
    assert sorted(path.name for path in PACKAGE.iterdir() if path.name[0] not in "._") == [
        "README.md",
        "pyproject.toml",
        "src",
        "tests",
    ]


def test_the_registries_find_it_after_the_built_in_extensions(
    installed: Path, tmp_path: Path
) -> None:
    done = run(installed, "-c", LOOK, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found, made = json.loads(done.stdout)
    for registry, name in NAMES.items():
        assert found[registry][-1] == name
    assert made["STRATEGIES"] == "Wander"
    assert made["BACKENDS"] == "EagerBackend"


def test_without_it_its_names_are_unknown(tmp_path: Path) -> None:
    done = run(tmp_path, "-c", LOOK.replace("made = {", "made = {} and {"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found, _ = json.loads(done.stdout)
    assert not {name for names in found.values() for name in names} & set(NAMES.values())


def test_its_own_tests_pass_on_the_contract_suites(installed: Path, tmp_path: Path) -> None:
    tests = PACKAGE / "tests"
    # A root of its own: this checkout's pytest settings are not those of another package.
    arguments = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull]
    done = run(installed, *arguments, f"--rootdir={tests}", str(tests), cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    last = done.stdout.strip().splitlines()[-1]
    assert " passed" in last
    assert "failed" not in last
    assert "skipped" not in last
    assert int(last.split(" passed")[0].split()[-1]) > 60
