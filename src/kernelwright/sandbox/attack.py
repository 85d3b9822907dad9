"""What hostile code would try, as harmless attempts; runs in a child to prove that its walls hold.

Each attempt returns a text: `stopped: ...` if it was refused, else what it reached.
The trusted side looks for traces by itself wherever an attempt would leave one.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from typing import cast

from kernelwright.core.fingerprint import Json
from kernelwright.sandbox.channel import Channel

_PTRACE_SEIZE, _PTRACE_DETACH = 0x4206, 17
_BURST_EXTRA = 200
_OVERRIDE, _READ_SEARCH = 1 << 1, 1 << 2
_FIRST_FREE_FD = 4


def main(channel: Channel) -> None:
    """Make the attempts that the trusted side asks for."""
    while True:
        request, _ = channel.receive()
        channel.send({"outcome": _attempt(request)})


def _attempt(request: Mapping[str, Json]) -> str:
    attempt = _ATTEMPTS[str(request["attempt"])]
    try:
        return attempt(request)
    except (OSError, MemoryError) as refusal:
        return f"stopped: {str(refusal) or type(refusal).__name__}"


def _spin(request: Mapping[str, Json]) -> str:
    until = time.monotonic() + cast(float, request["seconds"])
    while time.monotonic() < until:
        continue
    return "it computed as long as it wanted"


def _sleep(request: Mapping[str, Json]) -> str:
    time.sleep(cast(float, request["seconds"]))
    return "it slept as long as it wanted"


def _allocate(request: Mapping[str, Json]) -> str:
    size = cast(int, request["bytes"])
    held = bytearray(size)
    return f"it holds {len(held) >> 20} MiB"


def _allocate_spread(request: Mapping[str, Json]) -> str:
    """Several processes that are each within the limit, and together are not."""
    size, count = cast(int, request["bytes"]), cast(int, request["count"])
    for _ in range(count):
        if os.fork() == 0:
            held = bytearray(size)
            time.sleep(30)
            os._exit(len(held) & 1)
    time.sleep(cast(float, request["seconds"]))
    return f"{count} processes hold {count * size >> 20} MiB"


def _fork_burst(request: Mapping[str, Json]) -> str:
    """As many processes as the kernel grants; they are small and only wait to be killed."""
    made = 0
    for _ in range(cast(int, request["limit"]) + _BURST_EXTRA):
        try:
            pid = os.fork()
        except OSError:
            break
        if pid == 0:
            time.sleep(30)
            os._exit(0)
        made += 1
    # Long enough for a supervisor that counts to see them.
    time.sleep(0.15)
    return f"{made + 1} processes"


def _write_large(request: Mapping[str, Json]) -> str:
    with open("large", "wb", buffering=0) as file:
        for _ in range(cast(int, request["mib"])):
            file.write(bytes(1 << 20))
        return f"it wrote {file.tell() >> 20} MiB"


def _fill_folder(request: Mapping[str, Json]) -> str:
    for number in range(cast(int, request["files"])):
        with open(f"part{number}", "wb") as file:
            file.write(bytes(cast(int, request["mib"]) << 20))
    time.sleep(cast(float, request["seconds"]))
    return "it filled its folder"


def _write(request: Mapping[str, Json]) -> str:
    with open(str(request["path"]), "ab") as file:
        file.write(b"x")
    return "it wrote there"


def _change(request: Mapping[str, Json]) -> str:
    """Shorten a file, change its mode and its time: ways past a guard of contents."""
    path, done = str(request["path"]), []
    attempts: tuple[tuple[str, Callable[[], None]], ...] = (
        ("cut it", lambda: os.truncate(path, 0)),
        ("opened it empty", lambda: os.close(os.open(path, os.O_RDONLY | os.O_TRUNC))),
        ("changed its mode", lambda: os.chmod(path, 0o777)),
        ("changed its time", lambda: os.utime(path, (0, 0))),
        ("renamed it", lambda: os.rename(path, path + ".moved")),
        ("removed it", lambda: os.remove(path)),
    )
    for name, attempt in attempts:
        try:
            attempt()
        except OSError:
            continue
        done.append(name)
    return f"it {', '.join(done)}" if done else "stopped: it could not change the file"


def _read(request: Mapping[str, Json]) -> str:
    with open(str(request["path"]), "rb") as file:
        return f"it read {len(file.read(64))} bytes"


def _list(request: Mapping[str, Json]) -> str:
    return f"it sees {len(os.listdir(str(request['path'])))} entries"


def _connect(request: Mapping[str, Json]) -> str:
    with socket.socket() as line:
        line.settimeout(1.0)
        line.connect(("127.0.0.1", cast(int, request["port"])))
    return "it connected"


def _connect_path(request: Mapping[str, Json]) -> str:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(request["path"]))
    return "it connected"


def _send_datagram(request: Mapping[str, Json]) -> str:
    with socket.socket(type=socket.SOCK_DGRAM) as line:
        line.sendto(b"x", ("127.0.0.1", cast(int, request["port"])))
    return "it sent"


def _signal(request: Mapping[str, Json]) -> str:
    # SIGURG is ignored unless a program asks for it: the victim takes no harm.
    os.kill(cast(int, request["pid"]), signal.SIGURG)
    return "it signalled"


def _trace(request: Mapping[str, Json]) -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    target = ctypes.c_long(cast(int, request["pid"])), ctypes.c_long(0), ctypes.c_long(0)
    if libc.ptrace(ctypes.c_long(_PTRACE_SEIZE), *target) == 0:
        libc.ptrace(ctypes.c_long(_PTRACE_DETACH), *target)
        return "it traced"
    return f"stopped: {os.strerror(ctypes.get_errno())}"


def _daemon(request: Mapping[str, Json]) -> str:
    """A grandchild in a session of its own that leaves a heartbeat in the work folder."""
    ready, done = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(1, signal.NSIG):
                if number not in {signal.SIGKILL, signal.SIGSTOP, 32, 33}:
                    signal.signal(number, signal.SIG_IGN)
            os.write(done, b"x")
            while True:
                with open("heartbeat", "ab") as file:
                    file.write(b"x")
                time.sleep(0.002)
        os._exit(0)
    os.read(ready, 1)
    time.sleep(0.05)
    return "it is running"


def _flood(request: Mapping[str, Json]) -> str:
    block = bytes(1 << 20)
    for _ in range(cast(int, request["mib"])):
        os.write(1, block)
        os.write(2, block)
    return "it wrote"


def _descriptors(request: Mapping[str, Json]) -> str:
    found = []
    for fd in range(_FIRST_FREE_FD, 1024):
        try:
            os.fstat(fd)
        except OSError:
            continue
        found.append(fd)
    return f"it holds descriptors {found}" if found else "stopped: nothing but its own line"


def _privileges(request: Mapping[str, Json]) -> str:
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.capget(header, data)
    bound = libc.prctl(39, 0, 0, 0, 0)  # PR_GET_NO_NEW_PRIVS
    held = data[0] | data[1] | data[2] | data[3] | data[4] | data[5]
    if held == _READ_SEARCH:
        return "it may read what is closed to others, as this Python or a handed-over file is"
    if held == _OVERRIDE:
        return "it may pass by permissions of files, where Landlock lets it"
    if held or bound != 1 or os.geteuid() == 0:
        return f"uid {os.geteuid()}, capabilities {held:#x}, no_new_privs {bound}"
    return "stopped: no capability, and none to be gained"


def _namespace(request: Mapping[str, Json]) -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(ctypes.c_int(0x10000000)) == 0:
        return "it made a user namespace"
    return f"stopped: {os.strerror(ctypes.get_errno())}"


def _exit(request: Mapping[str, Json]) -> str:
    sys.stdout.write('{"feasible": true}')
    sys.stdout.flush()
    os._exit(cast(int, request["status"]))


_ATTEMPTS: Mapping[str, Callable[[Mapping[str, Json]], str]] = {
    "spin": _spin,
    "sleep": _sleep,
    "allocate": _allocate,
    "allocate_spread": _allocate_spread,
    "fork_burst": _fork_burst,
    "write_large": _write_large,
    "fill_folder": _fill_folder,
    "write": _write,
    "change": _change,
    "read": _read,
    "list": _list,
    "connect": _connect,
    "connect_path": _connect_path,
    "send_datagram": _send_datagram,
    "signal": _signal,
    "trace": _trace,
    "daemon": _daemon,
    "flood": _flood,
    "descriptors": _descriptors,
    "privileges": _privileges,
    "namespace": _namespace,
    "exit": _exit,
}
