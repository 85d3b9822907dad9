"""Tries to break each protection on this machine and says what held; nothing else is claimed."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from kernelwright.core.fingerprint import Json
from kernelwright.sandbox.ground import Ground, ask
from kernelwright.sandbox.limits import Cause, ChildFailed, Enforcement, Limits

_MIB = 1 << 20


def prove(ground: Ground) -> tuple[Enforcement, ...]:
    """Make every attempt and return one row each, in the order of `SECURITY.md`."""
    with ThreadPoolExecutor(4) as pool:
        return tuple(pool.map(lambda attempt: attempt(ground), _ATTEMPTS))


def _wall_time(ground: Ground) -> Enforcement:
    """A child that sleeps."""
    end = ground.attempt({"attempt": "sleep", "seconds": 30}, Limits(wall_s=0.5))
    return _limit_row("wall time", end, Cause.TIMEOUT, "supervisor, SIGKILL", "slept, 0.5 s")


def _cpu_time(ground: Ground) -> Enforcement:
    """A child that computes."""
    end = ground.attempt({"attempt": "spin", "seconds": 30}, Limits(cpu_s=0.5))
    how = "supervisor, RLIMIT_CPU"
    return _limit_row("processor time", end, Cause.CPU_TIME, how, "computed, 0.5 s")


def _memory(ground: Ground) -> Enforcement:
    """One allocation over the limit."""
    request: dict[str, Json] = {"attempt": "allocate", "bytes": 1 << 30}
    end = ground.attempt(request, Limits(memory_bytes=256 * _MIB))
    how = "RLIMIT_DATA or RLIMIT_AS, supervisor"
    return _limit_row("memory", end, Cause.MEMORY, how, "asked for 1 GiB, 256 MiB")


def _memory_of_the_tree(ground: Ground) -> Enforcement:
    """Allocations within the limit that together are over it."""
    request: dict[str, Json] = {
        "attempt": "allocate_spread",
        "bytes": 96 * _MIB,
        "count": 4,
        "seconds": 5,
    }
    end = ground.attempt(request, Limits(memory_bytes=256 * _MIB))
    how = "supervisor adds the tree up, SIGKILL"
    tried = "four processes asked for 96 MiB each, 256 MiB"
    return _limit_row("memory of the tree", end, Cause.MEMORY, how, tried)


def _processes(ground: Ground) -> Enforcement:
    """A real fork burst."""
    limit = 24
    end = ground.attempt({"attempt": "fork_burst", "limit": limit}, Limits(processes=limit))
    made = int(end.split()[0]) if isinstance(end, str) and end[0].isdigit() else None
    held = made <= limit if made is not None else _is_failure(end, Cause.PROCESSES)
    how = "RLIMIT_NPROC for a user of its own" if ground.is_root else "RLIMIT_NPROC"
    words = f"a burst of {limit + 200} forks: {_words(end)}, {limit} allowed"
    return Enforcement("processes", held, f"{how}, supervisor counts and kills", words)


def _file_size(ground: Ground) -> Enforcement:
    """A file over the limit."""
    end = ground.attempt({"attempt": "write_large", "mib": 8}, Limits(file_bytes=4 * _MIB))
    return _limit_row("file size", end, Cause.FILE_SIZE, "RLIMIT_FSIZE", "wrote 8 MiB, 4 MiB")


def _write_outside(ground: Ground) -> Enforcement:
    """A file in a folder that everybody may write to, elsewhere."""
    outside = ground.open_folder("outside")
    (outside / "owned").write_text("kept")
    (outside / "owned").chmod(0o666)
    before = (outside / "owned").stat()
    with ground.child(Limits()) as (child, _):
        end = ask(child, {"attempt": "write", "path": str(outside / "planted")})
        more = ask(child, {"attempt": "change", "path": str(outside / "owned")})
    is_kept = [path.name for path in outside.iterdir()] == ["owned"]
    is_kept = is_kept and (outside / "owned").stat() == before
    held = is_kept and _was_stopped(end) and _was_stopped(more)
    tried = f"made a file: {_words(end)}; changed one: {_words(more)}"
    return Enforcement("write outside", held, ground.files, tried)


def _read_secret(ground: Ground) -> Enforcement:
    """A file that everybody may read, elsewhere."""
    secret = ground.open_folder("secret") / "key"
    secret.write_text("secret")
    secret.chmod(0o644)
    end = ground.attempt({"attempt": "read", "path": str(secret)}, Limits())
    tried = f"read a world-readable file: {_words(end)}"
    return Enforcement("read secrets", _was_stopped(end), ground.files, tried)


def _sibling(ground: Ground) -> Enforcement:
    """The folder of another child that is running."""
    with ground.child(Limits()) as (other, folder):
        ask(other, {"attempt": "write", "path": "mine"})
        read = ground.attempt({"attempt": "read", "path": str(folder / "mine")}, Limits())
        write = ground.attempt({"attempt": "write", "path": str(folder / "planted")}, Limits())
        held = _was_stopped(read) and _was_stopped(write) and not (folder / "planted").exists()
    tried = f"read another child's folder: {_words(read)}; wrote to it: {_words(write)}"
    return Enforcement("other children", held, ground.files, tried)


def _network(ground: Ground) -> Enforcement:
    """TCP, UDP and a socket in the file system, each with somebody listening."""
    path = ground.open_folder("socket") / "line"
    with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
        local = socket.socket(socket.AF_UNIX)
        with local, ground.child(Limits()) as (child, _):
            tcp.bind(("127.0.0.1", 0))
            tcp.listen()
            udp.bind(("127.0.0.1", 0))
            local.bind(str(path))
            path.chmod(0o777)
            local.listen()
            ends = [
                ask(child, {"attempt": "connect", "port": tcp.getsockname()[1]}),
                ask(child, {"attempt": "send_datagram", "port": udp.getsockname()[1]}),
                ask(child, {"attempt": "connect_path", "path": str(path)}),
            ]
            quiet = not any(_has_news(listener) for listener in (tcp, udp, local))
    held = quiet and all(map(_was_stopped, ends))
    how = "seccomp denies socket(2)" if ground.ability.get("seccomp") else "none"
    if ground.ability.get("namespaces") != "none":
        how += ", network namespace"
    said = "; ".join(map(_words, ends))
    return Enforcement("network", held, how, f"TCP, UDP, Unix socket: {said}")


def _signals(ground: Ground) -> Enforcement:
    """Signals to this process."""
    end = ground.attempt({"attempt": "signal", "pid": os.getpid()}, Limits())
    tried = f"signalled the product: {_words(end)}"
    return Enforcement("signals", _was_stopped(end), ground.others, tried)


def _tracing(ground: Ground) -> Enforcement:
    """Attaching to this process as a debugger does."""
    end = ground.attempt({"attempt": "trace", "pid": os.getpid()}, Limits())
    tried = f"traced the product: {_words(end)}"
    return Enforcement("tracing", _was_stopped(end), ground.others, tried)


def _daemon(ground: Ground) -> Enforcement:
    """A process that leaves its family before the child is closed."""
    with ground.child(Limits()) as (child, folder):
        end = ask(child, {"attempt": "daemon"})
    heartbeat = folder / "heartbeat"
    beats = heartbeat.stat().st_size if heartbeat.exists() else 0
    time.sleep(0.1)
    held = beats > 0 and heartbeat.stat().st_size == beats
    isolated = ground.ability.get("namespaces") != "none"
    how = "PID namespace" if isolated else "supervisor adopts and kills orphans"
    tried = f"a detached process, after {beats} heartbeats: {_words(end)}"
    return Enforcement("no survivors", held, how, tried + (", killed" if held else ""))


def _descriptors(ground: Ground) -> Enforcement:
    """Open files that were left to the child."""
    end = ground.attempt({"attempt": "descriptors"}, Limits())
    how = "every descriptor but four is closed"
    return Enforcement("inherited files", _was_stopped(end), how, _words(end))


def _privileges(ground: Ground) -> Enforcement:
    """Capabilities, user id, and a namespace to become root in."""
    end = ground.attempt({"attempt": "privileges"}, Limits())
    more = ground.attempt({"attempt": "namespace"}, Limits())
    held = _was_stopped(end) and _was_stopped(more)
    how = "capabilities dropped, no_new_privs, seccomp"
    return Enforcement("privileges", held, how, f"{_words(end)}; namespace: {_words(more)}")


def _output(ground: Ground) -> Enforcement:
    """More output than anybody wants to keep, then a crash so that it is handed over."""
    with ground.child(Limits()) as (child, _):
        flood = ask(child, {"attempt": "flood", "mib": 16})
        end = ask(child, {"attempt": "exit", "status": 3})
    size = len(end.stderr_tail) if isinstance(end, ChildFailed) else -1
    held = flood == "it wrote" and 0 <= size <= 64 << 10
    return Enforcement("output", held, "drained and capped", f"wrote 32 MiB, {size} bytes kept")


def _verdict(ground: Ground) -> Enforcement:
    """Exit status 0 and a forged verdict on stdout in place of an answer."""
    end = ground.attempt({"attempt": "exit", "status": 0}, Limits())
    held = _is_failure(end, Cause.EXIT)
    how = "only a framed answer to a secret number counts"
    return Enforcement("forged verdicts", held, how, f"printed one and exited 0: {_words(end)}")


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


_ATTEMPTS: tuple[Callable[[Ground], Enforcement], ...] = (
    _wall_time,
    _cpu_time,
    _memory,
    _memory_of_the_tree,
    _processes,
    _file_size,
    _write_outside,
    _read_secret,
    _sibling,
    _network,
    _signals,
    _tracing,
    _daemon,
    _descriptors,
    _privileges,
    _output,
    _verdict,
)
