"""One sandbox for all tests of a file, and a folder of its own for each test's child."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelwright.sandbox import Sandbox

# What runs in the children of these tests is found by name, like any entry.
sys.path.append(str(Path(__file__).parent))


@pytest.fixture(scope="module")
def cold() -> Iterator[Sandbox]:
    """A sandbox whose children start with nothing imported."""
    with Sandbox(warm=()) as sandbox:
        yield sandbox


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    return path
