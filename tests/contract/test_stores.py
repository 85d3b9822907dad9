"""The built-in store keeps the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.core.ports import Store
from kernelwright.store.location import open_store
from kernelwright.testing import StoreContract
from kernelwright.testing.store import Opener


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def opener(self, tmp_path: Path) -> Opener:
        def opened() -> Store:
            return open_store(tmp_path / "store.db")

        return opened
