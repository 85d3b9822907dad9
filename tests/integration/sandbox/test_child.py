"""A child answers what it was asked, in time and in form, or it fails; it leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kernelwright.core.errors import SandboxUnavailable, UsageMistake
from kernelwright.sandbox import Cause, ChildFailed, Limits, Sandbox
from kernelwright.sandbox.syscalls import held_capabilities
from kernelwright.sandbox.watch import Tree, read_stat

CAP_SYS_ADMIN, CAP_SYS_PTRACE = 21, 19
needs_sight = pytest.mark.skipif(
    os.geteuid() == 0 and CAP_SYS_PTRACE not in held_capabilities(),
    reason="root lacks CAP_SYS_PTRACE, so it cannot see what other users' processes have open",
)
needs_mounts = pytest.mark.skipif(
    os.geteuid() == 0 and CAP_SYS_ADMIN not in held_capabilities(),
    reason="root lacks CAP_SYS_ADMIN: its children pass by permissions inside their own folder",
)


def failure_of(sandbox: Sandbox, entry: str, workdir: Path, **header: object) -> ChildFailed:
    with (
        sandbox.start(f"sandbox_guests:{entry}", workdir=workdir, limits=Limits()) as child,
        pytest.raises(ChildFailed) as caught,
    ):
        child.call(header, timeout_s=5.0)  # type: ignore[arg-type]
    return caught.value


def in_child(sandbox: Sandbox, workdir: Path, code: str, **limits: float) -> object:
    made = Limits(**limits)  # type: ignore[arg-type]
    with sandbox.start("sandbox_guests:shell", workdir=workdir, limits=made) as child:
        return child.call({"code": code}, timeout_s=20.0)[0]["answer"]


def test_an_honest_child_answers_again_and_again(cold: Sandbox, workdir: Path) -> None:
    with cold.start("sandbox_guests:echo", workdir=workdir, limits=Limits()) as child:
        for number in range(3):
            blobs = [b"", bytes([number]) * 100_000]
            assert child.call({"n": number}, blobs, timeout_s=5.0) == ({"n": number}, blobs)


def test_a_large_answer_arrives_unchanged(cold: Sandbox, workdir: Path) -> None:
    blob = os.urandom(1 << 20) * 64
    with cold.start("sandbox_guests:echo", workdir=workdir, limits=Limits()) as child:
        _, (answer,) = child.call({}, [blob], timeout_s=20.0)
        assert answer == blob
        with pytest.raises(ChildFailed, match="protocol: the answer has .* allowed"):
            child.call({}, [blob], timeout_s=20.0, max_reply_bytes=len(blob) - 1)


def test_a_pulse_is_timed_by_the_trusted_clock(cold: Sandbox, workdir: Path) -> None:
    with cold.start("sandbox_guests:shell", workdir=workdir, limits=Limits()) as child:
        child.call({"code": ""}, timeout_s=5.0)
        lie = "import time; time.perf_counter = time.monotonic = lambda: 0; time.sleep(0.2)"
        assert 0.2 <= child.pulse({"code": lie}, timeout_s=5.0) < 5.0


def test_a_pulse_of_a_failed_run_is_no_time(cold: Sandbox, workdir: Path) -> None:
    with (
        cold.start("sandbox_guests:echo", workdir=workdir, limits=Limits()) as child,
        pytest.raises(ChildFailed, match="protocol: no time to report"),
    ):
        child.pulse({"error": "division by zero"}, timeout_s=5.0)


@pytest.mark.parametrize(
    ("entry", "cause", "words"),
    [
        ("guesser", Cause.PROTOCOL, "not to this request"),
        ("babbler", Cause.PROTOCOL, "does not start like one"),
        ("boaster", Cause.PROTOCOL, "are allowed"),
        ("short", Cause.EXIT, "closed its line"),
    ],
)
def test_what_is_no_answer_is_a_failure(
    cold: Sandbox, workdir: Path, entry: str, cause: Cause, words: str
) -> None:
    failure = failure_of(cold, entry, workdir)
    assert failure.cause is cause
    assert words in failure.detail


def test_an_answer_before_the_question_is_refused(cold: Sandbox, workdir: Path) -> None:
    with cold.start("sandbox_guests:early", workdir=workdir, limits=Limits()) as child:
        deadline = time.monotonic() + 5
        while not (workdir / "sent").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        with pytest.raises(ChildFailed, match="before it was asked"):
            child.pulse({}, timeout_s=5.0)


@pytest.mark.parametrize("status", [0, 1, 77])
def test_an_exit_is_no_answer_whatever_its_status(
    cold: Sandbox, workdir: Path, status: int
) -> None:
    failure = failure_of(cold, "shell", workdir, code=f"import os; os._exit({status})")
    assert failure.cause is Cause.EXIT
    assert f"status {status}" in failure.detail


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_crash_is_told_with_its_signal_and_last_words(
    cold: Sandbox, workdir: Path, number: signal.Signals
) -> None:
    failure = failure_of(cold, "crash", workdir, signal=int(number))
    assert failure.cause is Cause.SIGNAL
    assert number.name in failure.detail
    assert failure.stderr_tail == "last words\n"


def test_an_exception_that_nobody_catches_is_told_with_its_traceback(
    cold: Sandbox, workdir: Path
) -> None:
    failure = failure_of(cold, "shell", workdir, code="1 / 0")
    assert failure.cause is Cause.EXIT
    assert "ZeroDivisionError" in failure.stderr_tail


@pytest.mark.parametrize("entry", ["deaf", "stopped"])
def test_a_child_that_does_not_answer_is_killed_in_time(
    cold: Sandbox, workdir: Path, entry: str
) -> None:
    with cold.start(f"sandbox_guests:{entry}", workdir=workdir, limits=Limits()) as child:
        start = time.monotonic()
        with pytest.raises(ChildFailed, match="timeout: no answer within 0.3 s"):
            child.call({}, timeout_s=0.3)
        assert time.monotonic() - start < 3.0
        with pytest.raises(ChildFailed, match="no answer within"):
            child.call({}, timeout_s=0.3)


def test_a_child_that_does_not_read_cannot_hold_the_sender(cold: Sandbox, workdir: Path) -> None:
    with (
        cold.start("sandbox_guests:deaf", workdir=workdir, limits=Limits()) as child,
        pytest.raises(ChildFailed, match="timeout"),
    ):
        child.call({}, [bytes(64 << 20)], timeout_s=0.3)


def test_the_wall_limit_ends_a_child_between_calls(cold: Sandbox, workdir: Path) -> None:
    limits = Limits(wall_s=0.3)
    with cold.start("sandbox_guests:echo", workdir=workdir, limits=limits) as child:
        child.call({}, timeout_s=5.0)
        time.sleep(0.5)
        with pytest.raises(ChildFailed, match="longer than 0.3 s") as caught:
            child.call({}, timeout_s=5.0)
    assert caught.value.cause is Cause.TIMEOUT


@needs_sight
def test_a_swarm_that_forks_for_ever_is_killed_to_the_last(cold: Sandbox, workdir: Path) -> None:
    limits = Limits(processes=20, wall_s=10)
    with (
        ThreadPoolExecutor(1) as pool,
        cold.start("sandbox_guests:swarm", workdir=workdir, limits=limits) as child,
    ):
        call = pool.submit(child.call, {}, timeout_s=8.0)
        while len(inhabitants(workdir)) < 5 and not call.done():
            time.sleep(0.01)
        assert len(inhabitants(workdir)) >= 5
        child.close()
        with pytest.raises(ChildFailed):
            call.result()
        assert inhabitants(workdir) == set()


def test_a_folder_that_is_filled_with_many_files_ends_the_child(
    cold: Sandbox, workdir: Path
) -> None:
    code = (
        "import time\n"
        "for n in range(40):\n"
        "    open(f'part{n}', 'wb').write(bytes(1 << 20))\n"
        "time.sleep(20)"
    )
    with pytest.raises(ChildFailed, match="its folder held more than 8 MiB") as caught:
        in_child(cold, workdir, code, file_bytes=2 << 20)
    assert caught.value.cause is Cause.FILE_SIZE


@needs_sight
@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "import os\n"
            "held = []\n"
            "for n in range(12):\n"
            "    held.append(open('x', 'wb', buffering=0)); held[-1].write(bytes(1 << 20))\n"
            "    os.remove('x')\n",
            "MiB of files",
        ),
        (
            "import os\nfor n in range(40):\n    os.mkdir('d' * 200); os.chdir('d' * 200)\n",
            "cannot be read: File name too long",
        ),
    ],
    ids=["deleted", "deep"],
)
def test_a_folder_that_is_filled_by_a_trick_ends_the_child(
    cold: Sandbox, tmp_path: Path, code: str, words: str
) -> None:
    # By hand: what hostile code leaves can be too deep for shutil.
    workdir = Path(tempfile.mkdtemp(dir=tmp_path))
    with pytest.raises(ChildFailed, match=words):
        in_child(cold, workdir, code + "import time; time.sleep(20)", file_bytes=2 << 20)
    subprocess.run(["rm", "-rf", str(workdir)], check=True)


def test_memory_outside_any_process_cannot_be_had(cold: Sandbox, workdir: Path) -> None:
    code = (
        "import os\n"
        "try:\n"
        "    answer = os.memfd_create('hidden')\n"
        "except PermissionError:\n"
        "    answer = 'refused'"
    )
    assert in_child(cold, workdir, code) == "refused"


def test_the_environment_of_the_product_is_not_passed_on(
    cold: Sandbox, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_API_KEY", "x")
    with Sandbox(warm=()) as fresh:
        env = in_child(fresh, workdir, "import os; answer = dict(os.environ)")
    assert isinstance(env, dict)
    assert "SECRET_API_KEY" not in env
    assert env["HOME"] == env["TMPDIR"] == str(workdir)
    assert env["OMP_NUM_THREADS"] == "1"
    assert env["MALLOC_MMAP_MAX_"] == "0"


def test_a_child_cannot_pass_descriptors_to_the_product(cold: Sandbox, workdir: Path) -> None:
    code = (
        "import array, os, socket\n"
        "line = socket.socket(fileno=os.dup(3))\n"
        "rights = array.array('i', [1] * 20)\n"
        "line.sendmsg([b'KWF1'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])\n"
        "os._exit(0)"
    )
    before = descriptors()
    with pytest.raises(ChildFailed):
        in_child(cold, workdir, code)
    assert descriptors() == before


def test_a_folder_below_a_closed_one_and_behind_a_link_can_be_used(
    cold: Sandbox, tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    (closed / "work").mkdir(parents=True)
    closed.chmod(0o700)
    link = tmp_path / "link"
    link.symlink_to(closed)
    code = "import os; open('made', 'w').write('x'); answer = os.getcwd()"
    assert in_child(cold, link / "work", code) == str(closed / "work")
    assert (closed / "work" / "made").read_text() == "x"


@needs_mounts
def test_a_file_with_a_second_name_elsewhere_stays_read_only(cold: Sandbox, tmp_path: Path) -> None:
    stored = tmp_path / "stored"
    stored.write_text("kept")
    workdir = tmp_path / "work"
    workdir.mkdir()
    os.link(stored, workdir / "stored")
    stored.chmod(0o444)
    code = "open('stored', 'w').write('changed')"
    with pytest.raises(ChildFailed) as caught:
        in_child(cold, workdir, code)
    assert "PermissionError" in caught.value.stderr_tail
    assert stored.read_text() == "kept"


def test_an_entry_that_does_not_exist_is_the_callers_mistake(cold: Sandbox, workdir: Path) -> None:
    with pytest.raises(UsageMistake, match="no package"):
        cold.start("no_such_package:main", workdir=workdir, limits=Limits())
    with pytest.raises(UsageMistake, match="no folder"):
        cold.start("sandbox_guests:echo", workdir=workdir / "missing", limits=Limits())


def test_fifty_children_leave_no_process_and_no_descriptor(cold: Sandbox, workdir: Path) -> None:
    cold.start("sandbox_guests:echo", workdir=workdir, limits=Limits()).close()
    before, tree = descriptors(), Tree({os.getpid()}, set())
    family = set(tree.sample(0.0).pids)
    for number in range(50):
        child = cold.start("sandbox_guests:echo", workdir=workdir, limits=Limits())
        if number % 2:
            child.call({}, timeout_s=5.0)
        child.close()
    assert descriptors() == before
    assert settled_family() - family == set()
    assert zombies_of(everybody() | {os.getpid()}) == set()


def test_children_can_be_started_from_many_threads(cold: Sandbox, tmp_path: Path) -> None:
    def one(number: int) -> int:
        workdir = tmp_path / f"work{number}"
        workdir.mkdir()
        with cold.start("sandbox_guests:echo", workdir=workdir, limits=Limits()) as child:
            answer, _ = child.call({"n": number}, timeout_s=20.0)
            return int(str(answer["n"]))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(24))) == list(range(24))


def test_closing_a_child_ends_a_call_that_another_thread_waits_for(
    cold: Sandbox, workdir: Path
) -> None:
    child = cold.start("sandbox_guests:deaf", workdir=workdir, limits=Limits())
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(child.call, {}, timeout_s=30.0)
        time.sleep(0.1)
        start = time.monotonic()
        child.close()
        with pytest.raises(ChildFailed):
            call.result()
        assert time.monotonic() - start < 10.0


@needs_sight
def test_closing_the_sandbox_ends_everything_that_runs_in_it(tmp_path: Path) -> None:
    folders = [tmp_path / "child", tmp_path / "command"]
    for folder in folders:
        folder.mkdir()
    sandbox = Sandbox(warm=())
    child = sandbox.start("sandbox_guests:deaf", workdir=folders[0], limits=Limits())
    with ThreadPoolExecutor(2) as pool:
        call = pool.submit(child.call, {}, timeout_s=30.0)
        run = pool.submit(sandbox.run, ["sleep", "30"], workdir=folders[1], limits=Limits())
        while not inhabitants(folders[1]) and not run.done():
            time.sleep(0.01)
        start = time.monotonic()
        sandbox.close()
        with pytest.raises(ChildFailed):
            call.result()
        assert run.result().cause is Cause.SIGNAL
        assert time.monotonic() - start < 10.0
    assert inhabitants(folders[0]) | inhabitants(folders[1]) == set()
    with pytest.raises(SandboxUnavailable, match="is closed"):
        sandbox.run(["true"], workdir=folders[0], limits=Limits())


def test_a_zygote_that_died_is_replaced(workdir: Path) -> None:
    with Sandbox(warm=()) as sandbox:
        with sandbox.start("sandbox_guests:echo", workdir=workdir, limits=Limits()) as child:
            first = sandbox._warm.pid
            assert first is not None
            os.kill(first, signal.SIGKILL)
            # A child that runs already does not depend on the zygote.
            assert child.call({"x": 1}, timeout_s=5.0)[0] == {"x": 1}
        with sandbox.start("sandbox_guests:echo", workdir=workdir, limits=Limits()) as child:
            assert child.call({"x": 2}, timeout_s=5.0)[0] == {"x": 2}
        assert sandbox._warm.pid != first


PRODUCT = """
import sys, time
from pathlib import Path
from kernelwright.sandbox import Limits, Sandbox
sys.path.append(sys.argv[1])
work = Path(sys.argv[2])
sandbox = Sandbox(warm=())
child = sandbox.start("kernelwright.sandbox.attack:main", workdir=work, limits=Limits())
child.call({"attempt": "daemon"}, timeout_s=20.0)
print("ready", flush=True)
sandbox.run(["sleep", "60"], workdir=work, limits=Limits())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_product_leaves_nothing_behind(workdir: Path, number: signal.Signals) -> None:
    argv = [sys.executable, "-c", PRODUCT, str(Path(__file__).parent), str(workdir)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as product:
        assert product.stdout is not None
        ready = product.stdout.readline()
        time.sleep(0.2)
        family = Tree(set(), {product.pid}).sample(0.0).pids
        product.send_signal(number)
        product.wait(timeout=30)
    assert ready == b"ready\n"
    # The product, two zygotes, two supervisors and their children at least.
    assert len(family) >= 6
    deadline = time.monotonic() + 5
    while any(map(is_alive, family)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [command_of(pid) for pid in family if is_alive(pid)] == []
    beats = (workdir / "heartbeat").stat().st_size
    time.sleep(0.1)
    assert (workdir / "heartbeat").stat().st_size == beats


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def everybody() -> set[int]:
    return set(Tree({os.getpid()}, set()).sample(0.0).pids)


def settled_family() -> set[int]:
    """Our descendants, once supervisors that have reported are gone."""
    deadline = time.monotonic() + 2
    family = everybody()
    while len(family) > 2 and time.monotonic() < deadline:
        time.sleep(0.02)
        family = everybody()
    return family


def is_alive(pid: int) -> bool:
    stat = read_stat(pid)
    return stat is not None and not stat.is_dead


def zombies_of(family: set[int]) -> set[int]:
    stats = {int(name): read_stat(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    return {pid for pid, stat in stats.items() if stat and stat.is_dead and stat.parent in family}


def inhabitants(folder: Path) -> set[int]:
    """Processes that stand in `folder`, wherever they come from."""
    found, place = set(), folder.stat()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            stands = os.stat(f"/proc/{name}/cwd")
        except OSError:
            continue
        if (stands.st_dev, stands.st_ino) == (place.st_dev, place.st_ino):
            found.add(int(name))
    return found


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except FileNotFoundError:
        return ""
