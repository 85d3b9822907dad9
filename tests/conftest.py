"""What every test gets: a home of its own, and golden files."""

from __future__ import annotations

import difflib
import os
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the golden files instead of comparing; runs only the tests that have some",
    )


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts what it puts into the background deaf to Ctrl-C, and children inherit that:
    # tests that interrupt a command would wait for it in vain.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--update-golden"):
        using = [item for item in items if "golden" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=[item for item in items if item not in using])
        items[:] = using


@pytest.fixture(scope="session", autouse=True)
def private_home() -> Iterator[None]:
    """Keep settings, store and caches of whoever runs the tests out of them, and unharmed."""
    kept = dict(os.environ)
    for name in [name for name in os.environ if name.startswith("KERNELWRIGHT_")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="kernelwright-tests-") as home:
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
            os.environ[name] = str(Path(home) / name.lower())
        yield
    os.environ.clear()
    os.environ.update(kept)


@dataclass(frozen=True)
class Golden:
    """Compares text with a file under `tests/golden`, or rewrites the file."""

    is_update: bool

    def check(self, name: str, text: str) -> None:
        """Fail unless `text` is what the file called `name` holds."""
        path = GOLDEN / name
        if self.is_update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        if not path.is_file():
            pytest.fail(f"there is no golden file {name}; fix: `make golden`, then review it")
        want = path.read_text(encoding="utf-8")
        if text != want:
            diff = difflib.unified_diff(
                want.splitlines(), text.splitlines(), "golden", "now", lineterm=""
            )
            pytest.fail(f"{name} differs; `make golden` rewrites it\n" + "\n".join(diff))


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Golden files: `golden.check("dsl/softmax.txt", text)`."""
    return Golden(bool(request.config.getoption("--update-golden")))
