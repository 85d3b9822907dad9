"""Every protection holds against a real attempt, as root and as an ordinary user.

Each attempt of the attack suite is first made without a sandbox, where it must succeed.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import kernelwright
from kernelwright.sandbox import attack

DRIVER = Path(__file__).with_name("walls_driver.py")
ROWS = {
    "wall time", "processor time", "memory", "memory of the tree", "processes", "file size",
    "write outside", "read secrets", "other children", "network", "signals", "tracing",
    "no survivors", "inherited files", "privileges", "output", "forged verdicts",
}  # fmt: skip
CLOSED = ("it may read what is closed to others", "it may pass by permissions of files")
FILES = {"write outside", "read secrets", "other children"}
ORDINARY, UNREACHABLE = 54321, 77
IS_ROOT = os.geteuid() == 0


def proved(identity: str, namespaces: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, str(DRIVER), namespaces]
    if identity == "user" and IS_ROOT:
        folder.chmod(0o755)
        os.chown(folder, ORDINARY, ORDINARY)
        source = Path(kernelwright.__file__).parent
        ways = [sys.base_prefix, sys.prefix, str(source), str(DRIVER.parent)]
        command += [str(ORDINARY), *dict.fromkeys(ways)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "TMPDIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    if done.returncode == UNREACHABLE:
        pytest.skip(f"no other user can run this Python, and root cannot mount: {done.stderr}")
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


CASES = [("user", "on"), ("user", "off"), ("user", "refused")]
CASES += [("root", "on"), ("root", "off")] if IS_ROOT else []


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def report(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    identity, namespaces = request.param
    # Not below pytest's own folder, which is closed to other users.
    with tempfile.TemporaryDirectory(prefix="kernelwright-walls-") as folder:
        found = proved(identity, namespaces, Path(folder))
        yield {**found, "identity": identity, "asked": namespaces}


def test_every_protection_is_tried_and_holds(report: dict[str, Any]) -> None:
    rows = {row["name"]: row for row in report["rows"]}
    ability = report["ability"]
    assert set(rows) == ROWS
    assert (report["uid"] == 0) == (report["identity"] == "root")
    failed = {name for name, row in rows.items() if not row["enforced"]}
    # Where the kernel offers neither way to hide files, the report must say that they are open.
    hides_files = ability["mounts"] or ability["landlock"] >= 3
    excused = set() if hides_files else FILES & failed
    if report["identity"] == "root" and rows["privileges"]["detail"].startswith(CLOSED):
        # A Python that only root may read: the child keeps the right to read, and it is said.
        excused.add("privileges")
    assert failed == excused, [rows[name] for name in failed ^ excused]


def test_the_page_on_security_has_a_row_for_each_protection() -> None:
    page = (Path(__file__).parents[3] / "SECURITY.md").read_text()
    listed = {line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")}
    assert listed - {"protection"} == ROWS


def test_without_namespaces_the_report_says_what_stands_in(report: dict[str, Any]) -> None:
    how = {row["name"]: row["how"] for row in report["rows"]}
    if report["ability"]["namespaces"] == "none":
        assert how["no survivors"] == "supervisor adopts and kills orphans"
        assert not any("namespace" in words for words in how.values())
    else:
        assert report["asked"] == "on"
        assert how["no survivors"] == "PID namespace"
        assert "network namespace" in how["network"]


@pytest.fixture
def listeners(tmp_path: Path) -> Iterator[dict[str, object]]:
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as local:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        local.bind(str(tmp_path / "line"))
        local.listen()
        yield {"port": tcp.getsockname()[1], "path": str(tmp_path / "line")}


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("allocate", {"bytes": 1 << 28}),
        ("write", {"path": "/dev/null"}),
        ("read", {"path": "/proc/self/status"}),
        ("list", {"path": "/"}),
        ("signal", {"pid": os.getpid()}),
        ("send_datagram", {"port": 9}),
    ],
)
def test_an_attempt_succeeds_where_nothing_stops_it(name: str, request_: Mapping[str, Any]) -> None:
    assert not unconfined(name, request_).startswith("stopped:")


@pytest.mark.parametrize("name", ["connect", "connect_path"])
def test_a_connection_succeeds_where_nothing_stops_it(
    name: str, listeners: Mapping[str, Any]
) -> None:
    assert unconfined(name, listeners) == "it connected"


def test_tracing_a_child_of_ones_own_succeeds_where_nothing_stops_it() -> None:
    with subprocess.Popen(["sleep", "10"]) as victim:
        outcome = attack._attempt({"attempt": "trace", "pid": victim.pid})
        victim.kill()
    assert outcome == "it traced"


def unconfined(name: str, request: Mapping[str, Any]) -> str:
    """Make an attempt in a process of its own, without any wall."""
    code = (
        "import json, sys; from kernelwright.sandbox.attack import _attempt;"
        " print(_attempt(json.loads(sys.argv[1])))"
    )
    words = json.dumps({"attempt": name, **request})
    made = subprocess.run(
        [sys.executable, "-c", code, words], capture_output=True, text=True, check=True
    )
    return made.stdout.strip()
