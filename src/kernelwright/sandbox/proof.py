"""Tries to break each protection on this machine and says what held; nothing else is claimed."""

from __future__ import annotations

import os
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from kernelwright.core.fingerprint import Json
from kernelwright.sandbox.child import Child
from kernelwright.sandbox.limits import Cause, ChildFailed, Enforcement, Limits

ENTRY = "kernelwright.sandbox.attack:main"
_MIB = 1 << 20
_PATIENCE_S = 20.0


class Start(Protocol):
    """Starts a child; `Sandbox.start`, or the same for a process that is not warm."""

    def __call__(self, entry: str, *, workdir: Path, limits: Limits) -> Child:
        """Return the isolated child."""


class Proof:
    """One series of attempts, each in a child of its own."""

    def __init__(self, start: Start, ability: Mapping[str, Json], root: Path) -> None:
        self._start = start
        self._ability = ability
        self._root = root

    def rows(self) -> tuple[Enforcement, ...]:
        """Make every attempt and return one row each, in the order of `SECURITY.md`."""
        attempts: list[Callable[[], Enforcement]] = [
            self.wall_time,
            self.cpu_time,
            self.memory,
            self.memory_of_the_tree,
            self.processes,
            self.file_size,
            self.write_outside,
            self.read_secret,
            self.sibling,
            self.network,
            self.signals,
            self.tracing,
            self.daemon,
            self.descriptors,
            self.privileges,
            self.output,
            self.verdict,
        ]
        with ThreadPoolExecutor(4) as pool:
            return tuple(pool.map(lambda attempt: attempt(), attempts))

    def wall_time(self) -> Enforcement:
        """A child that sleeps."""
        end = self._try({"attempt": "sleep", "seconds": 30}, Limits(wall_s=0.5))
        return _limit_row("wall time", end, Cause.TIMEOUT, "supervisor, SIGKILL", "slept, 0.5 s")

    def cpu_time(self) -> Enforcement:
        """A child that computes."""
        end = self._try({"attempt": "spin", "seconds": 30}, Limits(cpu_s=0.5))
        how = "supervisor, RLIMIT_CPU"
        return _limit_row("processor time", end, Cause.CPU_TIME, how, "computed, 0.5 s")

    def memory(self) -> Enforcement:
        """One allocation over the limit."""
        request: dict[str, Json] = {"attempt": "allocate", "bytes": 1 << 30}
        end = self._try(request, Limits(memory_bytes=256 * _MIB))
        how = "RLIMIT_DATA or RLIMIT_AS, supervisor"
        return _limit_row("memory", end, Cause.MEMORY, how, "asked for 1 GiB, 256 MiB")

    def memory_of_the_tree(self) -> Enforcement:
        """Allocations within the limit that together are over it."""
        request: dict[str, Json] = {
            "attempt": "allocate_spread",
            "bytes": 96 * _MIB,
            "count": 4,
            "seconds": 5,
        }
        end = self._try(request, Limits(memory_bytes=256 * _MIB))
        how = "supervisor adds the tree up, SIGKILL"
        tried = "four processes asked for 96 MiB each, 256 MiB"
        return _limit_row("memory of the tree", end, Cause.MEMORY, how, tried)

    def processes(self) -> Enforcement:
        """A real fork burst."""
        limit = 24
        end = self._try({"attempt": "fork_burst", "limit": limit}, Limits(processes=limit))
        made = int(end.split()[0]) if isinstance(end, str) and end[0].isdigit() else None
        held = made <= limit if made is not None else _is_failure(end, Cause.PROCESSES)
        how = "RLIMIT_NPROC for a user of its own" if self._is_root else "RLIMIT_NPROC"
        words = f"a burst of {limit + 200} forks: {_words(end)}, {limit} allowed"
        return Enforcement("processes", held, f"{how}, supervisor counts and kills", words)

    def file_size(self) -> Enforcement:
        """A file over the limit."""
        end = self._try({"attempt": "write_large", "mib": 8}, Limits(file_bytes=4 * _MIB))
        return _limit_row("file size", end, Cause.FILE_SIZE, "RLIMIT_FSIZE", "wrote 8 MiB, 4 MiB")

    def write_outside(self) -> Enforcement:
        """A file in a folder that everybody may write to, elsewhere."""
        outside = self._open_folder("outside")
        (outside / "owned").write_text("kept")
        (outside / "owned").chmod(0o666)
        before = (outside / "owned").stat()
        with self._child(Limits()) as (child, _):
            end = _ask(child, {"attempt": "write", "path": str(outside / "planted")})
            more = _ask(child, {"attempt": "change", "path": str(outside / "owned")})
        is_kept = [path.name for path in outside.iterdir()] == ["owned"]
        is_kept = is_kept and (outside / "owned").stat() == before
        held = is_kept and _was_stopped(end) and _was_stopped(more)
        tried = f"made a file: {_words(end)}; changed one: {_words(more)}"
        return Enforcement("write outside", held, self._files, tried)

    def read_secret(self) -> Enforcement:
        """A file that everybody may read, elsewhere."""
        secret = self._open_folder("secret") / "key"
        secret.write_text("secret")
        secret.chmod(0o644)
        end = self._try({"attempt": "read", "path": str(secret)}, Limits())
        tried = f"read a world-readable file: {_words(end)}"
        return Enforcement("read secrets", _was_stopped(end), self._files, tried)

    def sibling(self) -> Enforcement:
        """The folder of another child that is running."""
        with self._child(Limits()) as (other, folder):
            _ask(other, {"attempt": "write", "path": "mine"})
            read = self._try({"attempt": "read", "path": str(folder / "mine")}, Limits())
            write = self._try({"attempt": "write", "path": str(folder / "planted")}, Limits())
            held = _was_stopped(read) and _was_stopped(write) and not (folder / "planted").exists()
        tried = f"read another child's folder: {_words(read)}; wrote to it: {_words(write)}"
        return Enforcement("other children", held, self._files, tried)

    def network(self) -> Enforcement:
        """TCP, UDP and a socket in the file system, each with somebody listening."""
        path = self._open_folder("socket") / "line"
        with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
            local = socket.socket(socket.AF_UNIX)
            with local, self._child(Limits()) as (child, _):
                tcp.bind(("127.0.0.1", 0))
                tcp.listen()
                udp.bind(("127.0.0.1", 0))
                local.bind(str(path))
                path.chmod(0o777)
                local.listen()
                ends = [
                    _ask(child, {"attempt": "connect", "port": tcp.getsockname()[1]}),
                    _ask(child, {"attempt": "send_datagram", "port": udp.getsockname()[1]}),
                    _ask(child, {"attempt": "connect_path", "path": str(path)}),
                ]
                quiet = not any(_has_news(listener) for listener in (tcp, udp, local))
        held = quiet and all(map(_was_stopped, ends))
        how = "seccomp denies socket(2)" if self._ability.get("seccomp") else "none"
        if self._ability.get("namespaces") != "none":
            how += ", network namespace"
        said = "; ".join(map(_words, ends))
        return Enforcement("network", held, how, f"TCP, UDP, Unix socket: {said}")

    def signals(self) -> Enforcement:
        """Signals to this process."""
        end = self._try({"attempt": "signal", "pid": os.getpid()}, Limits())
        tried = f"signalled the product: {_words(end)}"
        return Enforcement("signals", _was_stopped(end), self._others, tried)

    def tracing(self) -> Enforcement:
        """Attaching to this process as a debugger does."""
        end = self._try({"attempt": "trace", "pid": os.getpid()}, Limits())
        tried = f"traced the product: {_words(end)}"
        return Enforcement("tracing", _was_stopped(end), self._others, tried)

    def daemon(self) -> Enforcement:
        """A process that leaves its family before the child is closed."""
        with self._child(Limits()) as (child, folder):
            end = _ask(child, {"attempt": "daemon"})
        heartbeat = folder / "heartbeat"
        beats = heartbeat.stat().st_size if heartbeat.exists() else 0
        time.sleep(0.1)
        held = beats > 0 and heartbeat.stat().st_size == beats
        isolated = self._ability.get("namespaces") != "none"
        how = "PID namespace" if isolated else "supervisor adopts and kills orphans"
        tried = f"a detached process, after {beats} heartbeats: {_words(end)}"
        return Enforcement("no survivors", held, how, tried + (", killed" if held else ""))

    def descriptors(self) -> Enforcement:
        """Open files that were left to the child."""
        end = self._try({"attempt": "descriptors"}, Limits())
        how = "every descriptor but four is closed"
        return Enforcement("inherited files", _was_stopped(end), how, _words(end))

    def privileges(self) -> Enforcement:
        """Capabilities, user id, and a namespace to become root in."""
        end = self._try({"attempt": "privileges"}, Limits())
        more = self._try({"attempt": "namespace"}, Limits())
        held = _was_stopped(end) and _was_stopped(more)
        how = "capabilities dropped, no_new_privs, seccomp"
        return Enforcement("privileges", held, how, f"{_words(end)}; namespace: {_words(more)}")

    def output(self) -> Enforcement:
        """More output than anybody wants to keep, then a crash so that it is handed over."""
        with self._child(Limits()) as (child, _):
            flood = _ask(child, {"attempt": "flood", "mib": 16})
            end = _ask(child, {"attempt": "exit", "status": 3})
        size = len(end.stderr_tail) if isinstance(end, ChildFailed) else -1
        held = flood == "it wrote" and 0 <= size <= 64 << 10
        return Enforcement("output", held, "drained and capped", f"wrote 32 MiB, {size} bytes kept")

    def verdict(self) -> Enforcement:
        """Exit status 0 and a forged verdict on stdout in place of an answer."""
        end = self._try({"attempt": "exit", "status": 0}, Limits())
        held = _is_failure(end, Cause.EXIT)
        how = "only a framed answer to a secret number counts"
        return Enforcement("forged verdicts", held, how, f"printed one and exited 0: {_words(end)}")

    @property
    def _is_root(self) -> bool:
        return self._ability.get("is_root") is True

    @property
    def _files(self) -> str:
        ways = ["mount namespace"] if self._ability.get("mounts") else []
        if version := self._ability.get("landlock"):
            ways.append(f"Landlock {version}")
        if self._is_root:
            ways.append("a user of its own")
        return ", ".join(ways) or "file permissions only"

    @property
    def _others(self) -> str:
        ways = ["PID namespace"] if self._ability.get("namespaces") != "none" else []
        if self._is_root:
            ways.append("a user of its own")
        ways += ["seccomp"] if self._ability.get("seccomp") else []
        return ", ".join(ways) or "none"

    def _open_folder(self, name: str) -> Path:
        path = Path(tempfile.mkdtemp(prefix=name, dir=self._root))
        path.chmod(0o777)
        return path

    @contextmanager
    def _child(self, limits: Limits) -> Iterator[tuple[Child, Path]]:
        folder = Path(tempfile.mkdtemp(prefix="work", dir=self._root))
        with self._start(ENTRY, workdir=folder, limits=limits) as child:
            yield child, folder

    def _try(self, request: Mapping[str, Json], limits: Limits) -> str | ChildFailed:
        with self._child(limits) as (child, _):
            return _ask(child, request)


def _ask(child: Child, request: Mapping[str, Json]) -> str | ChildFailed:
    try:
        answer, _ = child.call(request, timeout_s=_PATIENCE_S)
    except ChildFailed as failure:
        return failure
    return str(answer["outcome"])


def _was_stopped(end: str | ChildFailed) -> bool:
    return isinstance(end, str) and end.startswith("stopped:")


def _is_failure(end: str | ChildFailed, cause: Cause) -> bool:
    return isinstance(end, ChildFailed) and end.cause is cause


def _words(end: str | ChildFailed) -> str:
    return end.detail if isinstance(end, ChildFailed) else end


def _limit_row(
    name: str, end: str | ChildFailed, cause: Cause, how: str, tried: str
) -> Enforcement:
    held = _was_stopped(end) or _is_failure(end, cause)
    return Enforcement(name, held, how, f"{tried} allowed: {_words(end)}")


def _has_news(listener: socket.socket) -> bool:
    listener.settimeout(0)
    try:
        listener.recv(1) if listener.type == socket.SOCK_DGRAM else listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True
