"""One sandbox for all tests of tasks: its warm process takes seconds to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernelwright.sandbox import Sandbox
from kernelwright.tasks import WARM


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(warm=WARM) as made:
        yield made
