"""A command runs under its limits, and how it ended is told by its cause."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kernelwright
from kernelwright.core.errors import SandboxUnavailable, UsageMistake
from kernelwright.sandbox import Cause, Finished, Limits, Sandbox

PYTHON = sys.executable


def run_python(sandbox: Sandbox, workdir: Path, code: str, **limits: float) -> Finished:
    made = Limits(**limits)  # type: ignore[arg-type]
    return sandbox.run([PYTHON, "-c", code], workdir=workdir, limits=made)


def test_a_command_gets_its_input_and_gives_its_output(cold: Sandbox, workdir: Path) -> None:
    code = "import sys; sys.stderr.write('!'); print(sys.stdin.read()[::-1]); sys.exit(7)"
    done = cold.run([PYTHON, "-c", code], workdir=workdir, limits=Limits(), stdin=b"abc" * 100_000)
    assert (done.returncode, done.stderr, done.cause) == (7, b"!", None)
    assert done.stdout == b"cba" * 100_000 + b"\n"
    assert 0 < done.cpu_s < 30
    assert 0 < done.wall_s < 60
    assert 1 << 20 < done.peak_bytes < 1 << 30


def test_a_compiler_builds_in_the_work_folder_and_the_result_runs(
    cold: Sandbox, workdir: Path
) -> None:
    (workdir / "main.cpp").write_text(
        "#include <cstdio>\n#include <vector>\n"
        "int main() { std::vector<int> v(3, 2); int s = 0;\n"
        "#pragma omp parallel for reduction(+ : s)\n"
        "  for (int x = 0; x < 3; ++x) s += v[x];\n"
        '  std::printf("%d", s); }\n'
    )
    argv = ["g++", "-O1", "-fopenmp", "main.cpp", "-o", "main"]
    built = cold.run(argv, workdir=workdir, limits=Limits())
    assert (built.returncode, built.stderr) == (0, b"")
    assert cold.run(["./main"], workdir=workdir, limits=Limits()).stdout == b"6"
    assert (workdir / "main").read_bytes()[:4] == b"\x7fELF"


def test_a_program_built_with_a_sanitizer_runs_when_it_may_reserve_memory(
    cold: Sandbox, workdir: Path
) -> None:
    (workdir / "main.cpp").write_text(
        'extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }\n'
        "int main(int n, char**) { int* p = new int[2]{0, 0}; return p[n - 1]; }\n"
    )
    argv = ["g++", "-g", "-fsanitize=address", "main.cpp", "-o", "main"]
    assert cold.run(argv, workdir=workdir, limits=Limits()).returncode == 0
    limits = Limits(virtual_bytes=1 << 50)
    assert cold.run(["./main"], workdir=workdir, limits=limits).returncode == 0
    done = cold.run(["./main", "1", "2"], workdir=workdir, limits=limits)
    assert done.returncode == 1
    assert b"heap-buffer-overflow" in done.stderr


@pytest.mark.parametrize(
    ("code", "limits", "cause"),
    [
        ("import time; time.sleep(30)", {"wall_s": 0.3}, Cause.TIMEOUT),
        ("while True: pass", {"cpu_s": 0.4}, Cause.CPU_TIME),
        ("x = bytearray(6 << 30)", {"memory_bytes": 4 << 30}, Cause.MEMORY),
        (
            "import mmap\nm = mmap.mmap(-1, 1 << 29)\nwhile True: m.write(bytes(1 << 20))",
            {"memory_bytes": 1 << 28, "virtual_bytes": 1 << 40},
            Cause.MEMORY,
        ),
        ("open('x', 'wb').write(bytes(3 << 20))", {"file_bytes": 2 << 20}, Cause.FILE_SIZE),
        ("import os\nwhile True: os.fork()", {"processes": 10, "wall_s": 5}, Cause.PROCESSES),
        ("import os; os.kill(os.getpid(), 11)", {}, Cause.SIGNAL),
    ],
)
def test_a_limit_that_is_met_is_named_as_the_cause(
    cold: Sandbox, workdir: Path, code: str, limits: dict[str, float], cause: Cause
) -> None:
    done = run_python(cold, workdir, code, **limits)
    assert done.cause is cause, done
    assert done.returncode != 0


def test_a_program_that_ignores_its_limits_signals_is_killed(cold: Sandbox, workdir: Path) -> None:
    code = (
        "import signal\n"
        "for n in set(range(1, 32)) - {9, 19}:\n"
        "    signal.signal(n, signal.SIG_IGN)\n"
        "while True: pass"
    )
    assert run_python(cold, workdir, code, cpu_s=0.4).cause is Cause.CPU_TIME


def test_processor_time_of_short_lived_processes_is_counted(cold: Sandbox, workdir: Path) -> None:
    code = (
        "import os, time\n"
        "while True:\n"
        "    if os.fork() == 0:\n"
        "        start = time.process_time()\n"
        "        while time.process_time() < start + 0.2: pass\n"
        "        os._exit(0)\n"
        "    os.wait()"
    )
    done = run_python(cold, workdir, code, cpu_s=1.0, wall_s=20)
    assert done.cause is Cause.CPU_TIME


def test_a_flood_of_output_is_kept_in_part_and_does_not_block(cold: Sandbox, workdir: Path) -> None:
    code = "import os\nfor _ in range(64): os.write(1, bytes(1 << 20)); os.write(2, bytes(1 << 20))"
    done = run_python(cold, workdir, code)
    assert (done.returncode, done.cause) == (0, None)
    assert (len(done.stdout), len(done.stderr)) == (1 << 20, 1 << 20)


def test_output_of_a_daemon_that_is_left_does_not_delay_the_end(
    cold: Sandbox, workdir: Path
) -> None:
    code = "import os, time\nif os.fork() == 0:\n    os.setsid(); time.sleep(30)\nprint('done')"
    done = run_python(cold, workdir, code)
    assert done.stdout == b"done\n"
    assert done.wall_s < 20


def test_more_can_be_made_readable_and_nothing_writable(cold: Sandbox, tmp_path: Path) -> None:
    workdir, shared = tmp_path / "work", tmp_path / "shared"
    workdir.mkdir()
    shared.mkdir()
    (shared / "header.h").write_text("text")
    argv = ["cat", str(shared / "header.h")]
    assert cold.run(argv, workdir=workdir, limits=Limits()).returncode == 1
    shown = cold.run(argv, workdir=workdir, limits=Limits(), readable=[shared])
    assert shown.stdout == b"text"
    argv = ["touch", str(shared / "header.h")]
    assert cold.run(argv, workdir=workdir, limits=Limits(), readable=[shared]).returncode == 1


def test_a_file_that_only_the_owner_may_read_can_be_made_readable(
    cold: Sandbox, tmp_path: Path
) -> None:
    workdir, secret = tmp_path / "work", tmp_path / "secret"
    workdir.mkdir()
    secret.write_text("shared on purpose")
    secret.chmod(0o600)
    shown = cold.run(["cat", str(secret)], workdir=workdir, limits=Limits(), readable=[secret])
    assert shown.stdout == b"shared on purpose"


def test_children_run_the_very_package_that_started_them_even_from_a_closed_folder(
    tmp_path: Path,
) -> None:
    source, workdir = Path(kernelwright.__file__).parent, tmp_path / "work"
    workdir.mkdir()
    copied = tmp_path / "closed" / "kernelwright"
    for part in ("core", "sandbox"):
        shutil.copytree(source / part, copied / part)
    shutil.copy(source / "__init__.py", copied)
    subprocess.run(["chmod", "-R", "go-rwx", str(copied.parent)], check=True)
    code = (
        "import sys; from pathlib import Path; sys.path.append(sys.argv[1])\n"
        "from kernelwright.sandbox import Limits, Sandbox\n"
        "with Sandbox(warm=()) as sandbox, sandbox.start(\n"
        "    'sandbox_guests:shell', workdir=Path(sys.argv[2]), limits=Limits()) as child:\n"
        "    code = 'import kernelwright; answer = kernelwright.__file__'\n"
        "    sys.stdout.write(child.call({'code': code}, timeout_s=20.0)[0]['answer'])\n"
    )
    done = subprocess.run(
        [PYTHON, "-c", code, str(Path(__file__).parent), str(workdir)],
        env={**os.environ, "PYTHONPATH": str(copied.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == str(copied / "__init__.py")


def test_a_link_in_the_work_folder_leads_nowhere(cold: Sandbox, tmp_path: Path) -> None:
    workdir, outside = tmp_path / "work", tmp_path / "outside"
    workdir.mkdir()
    outside.write_text("kept")
    (workdir / "link").symlink_to(outside)
    done = run_python(cold, workdir, "open('link', 'a').write('x')")
    assert done.returncode == 1
    assert outside.read_text() == "kept"
    assert outside.stat().st_uid == os.geteuid()


def test_a_program_that_does_not_exist_is_the_machines_problem(
    cold: Sandbox, workdir: Path
) -> None:
    with pytest.raises(SandboxUnavailable, match="no program 'no-such-compiler'"):
        cold.run(["no-such-compiler"], workdir=workdir, limits=Limits())
    with pytest.raises(UsageMistake, match="there is no"):
        cold.run(["true"], workdir=workdir, limits=Limits(), readable=[workdir / "missing"])


def test_without_namespaces_commands_run_under_the_same_limits(workdir: Path) -> None:
    with Sandbox(warm=(), namespaces=False) as sandbox:
        assert sandbox.ability()["namespaces"] == "none"
        done = sandbox.run(["cat"], workdir=workdir, limits=Limits(), stdin=b"through")
        assert (done.returncode, done.stdout) == (0, b"through")
        code = (
            "import os, time\nif os.fork() == 0:\n    os.setsid(); time.sleep(30)\ntime.sleep(30)"
        )
        assert run_python(sandbox, workdir, code, wall_s=0.3).cause is Cause.TIMEOUT
        (workdir / "main.cpp").write_text("int main() { return 5; }")
        argv = ["g++", "main.cpp", "-o", "main"]
        assert sandbox.run(argv, workdir=workdir, limits=Limits()).returncode == 0
        assert sandbox.run(["./main"], workdir=workdir, limits=Limits()).returncode == 5
