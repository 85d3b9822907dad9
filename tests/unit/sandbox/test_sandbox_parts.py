"""The small parts of the sandbox: causes, kept output, user ids, readable paths, numbers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kernelwright.core.errors import SandboxUnavailable
from kernelwright.sandbox import Cause, Limits, cause_in
from kernelwright.sandbox.output import Kept
from kernelwright.sandbox.plan import Package, Plan, plan_from
from kernelwright.sandbox.readable import default_readable, is_readable_by_all
from kernelwright.sandbox.seccomp import _CHANGES, _DENIED, _ONLY_SELF, _SIGNALS, _number
from kernelwright.sandbox.syscalls import _BY_MACHINE, _SAME, MACHINE
from kernelwright.sandbox.uids import COUNT, Uids
from kernelwright.sandbox.watch import Tree, proportional_bytes, read_stat


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("Traceback ...\nMemoryError\n", Cause.MEMORY),
        ("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 6 GiB", Cause.MEMORY),
        ("RuntimeError: [enforce fail] DefaultCPUAllocator: can't allocate memory", Cause.MEMORY),
        ("terminate called after throwing an instance of 'std::bad_alloc'", Cause.MEMORY),
        ("cc1plus: out of memory allocating 65536 bytes", Cause.MEMORY),
        ("OSError: [Errno 27] File too large", Cause.FILE_SIZE),
        ("BlockingIOError: [Errno 11] Resource temporarily unavailable", Cause.PROCESSES),
        ("sh: 1: fork: Resource temporarily unavailable", Cause.PROCESSES),
        ("kernel.cpp:3: error: 'bad_alloc' is not a member of 'std'", None),
        ("kernel.cpp:3: error: expected ';'", None),
        ("", None),
    ],
)
def test_the_words_of_a_refused_request_name_the_limit(message: str, cause: Cause | None) -> None:
    assert cause_in(message) is cause


@pytest.mark.parametrize(("is_tail", "kept"), [(False, b"a" * 100), (True, b"z" * 100)])
def test_output_is_kept_in_part_and_drained_in_full(is_tail: bool, kept: bytes) -> None:
    read, write = os.pipe()
    output = Kept(read, 100, is_tail=is_tail)
    for letter in (b"a", b"m", b"z"):
        os.write(write, letter * 30_000)
        assert output.drain()
    os.close(write)
    assert not output.drain()
    assert output.data == kept
    output.finish()


def test_what_is_left_in_the_pipe_is_kept_when_writers_live_on() -> None:
    read, write = os.pipe()
    output = Kept(read, 100, is_tail=True)
    os.write(write, b"last words")
    output.finish()
    assert output.data == b"last words"
    os.close(write)


def test_a_user_id_has_one_holder_at_a_time() -> None:
    uids = Uids()
    held = {uids.take() for _ in range(COUNT)}
    assert len(held) == COUNT
    with pytest.raises(SandboxUnavailable, match="are open"):
        uids.take()
    one = min(held)
    uids.give_back(one)
    assert uids.take() == one


def test_a_home_is_not_among_what_a_child_may_read() -> None:
    home = str(Path.home())
    assert home not in default_readable()
    assert "/" not in default_readable()
    assert not any(
        path in {"/etc", "/proc", "/tmp", "/root", "/home"} for path in default_readable()
    )


def test_this_python_and_this_package_are_among_what_a_child_may_read() -> None:
    for needed in (os.__file__, sys.prefix, Path(__file__).parents[3] / "src/kernelwright/core"):
        path = str(needed)
        assert any(path == root or path.startswith(root + "/") for root in default_readable())


def test_a_path_behind_a_closed_folder_is_not_readable_by_all(tmp_path: Path) -> None:
    file = tmp_path / "closed" / "file"
    file.parent.mkdir()
    file.write_text("x")
    file.chmod(0o644)
    assert is_readable_by_all(str(file), with_parents=False)
    file.parent.chmod(0o700)
    assert not is_readable_by_all(str(file), with_parents=True)
    file.chmod(0o600)
    assert not is_readable_by_all(str(file), with_parents=False)


def test_a_plan_survives_its_way_to_the_supervisor() -> None:
    plan = Plan(
        "/w",
        Limits(wall_s=1.5),
        {"A": "b"},
        ("/r",),
        7,
        entry="p.m:f",
        package=Package("p", "/p/__init__.py", ("/p",)),
    )
    assert plan_from(plan.as_json()) == plan


def test_system_call_numbers_are_those_of_the_kernels_headers() -> None:
    made = subprocess.run(
        ["g++", "-E", "-dM", "-include", "sys/syscall.h", "-x", "c++", "/dev/null"],
        capture_output=True,
        text=True,
        check=True,
    )
    header = dict(re.findall(r"#define __NR_(\w+) (\d+)$", made.stdout, re.MULTILINE))
    tables = {**_DENIED, **_CHANGES, **_ONLY_SELF, **_SIGNALS}
    ours = {name: _number(entry) for name, entry in tables.items()}
    ours |= _SAME | _BY_MACHINE[MACHINE]
    # Calls that are newer than the installed headers cannot be compared.
    known = {name: number for name, number in ours.items() if name in header}
    assert len(known) > 60
    assert {name: str(number) for name, number in known.items()} == {n: header[n] for n in known}


def test_a_process_that_its_family_disowned_is_still_counted() -> None:
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    held = bytearray(64 << 20)\n"
        "    time.sleep(20)\n"
        "print('ready', flush=True)\n"
        "time.sleep(20)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        # Not our own id: other tests of this process keep children of their own.
        tree = Tree(set(), {process.pid})
        deadline = time.monotonic() + 10
        exact: int | None = 0
        while exact is not None and exact < 64 << 20 and time.monotonic() < deadline:
            usage = tree.sample(time.monotonic())
            exact = proportional_bytes(usage.pids)
        for pid in usage.pids:
            os.kill(pid, 9)
        assert len(usage.pids) == 2
        assert exact is not None
        assert exact >= 64 << 20
    assert read_stat(process.pid) is None
