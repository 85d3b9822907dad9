"""The trusted side's handle on a zygote: starts it, asks it for children, restarts it."""

from __future__ import annotations

import array
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from kernelwright.core.errors import SandboxUnavailable
from kernelwright.core.fingerprint import Json
from kernelwright.sandbox.frame import FrameEnd, FrameError, FrameLate, receive_frame, send_frame
from kernelwright.sandbox.leash import Leash
from kernelwright.sandbox.readable import package_folder, site_folders
from kernelwright.sandbox.uids import first_uid

_READY_S = 180.0
_START_S = 60.0
# Loads this very package from its file, also where a search would find another copy first.
_BOOT = """
import importlib.util, json, sys
_, fd, package, extra, options = sys.argv
sys.path.extend(path for path in json.loads(extra) if path not in sys.path)
spec = importlib.util.spec_from_file_location(
    "kernelwright", package + "/__init__.py", submodule_search_locations=[package])
sys.modules["kernelwright"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
from kernelwright.sandbox.zygote import main
main(int(fd), json.loads(options))
"""
_FIX = "run `kernelwright doctor`; is torch importable, and is there enough memory?"


class Spawner:
    """Owns one zygote process; thread-safe."""

    def __init__(self, *, warm: Sequence[str], threads: int, namespaces: bool) -> None:
        self._options = {"warm": list(warm), "namespaces": namespaces, "uid": first_uid()}
        self._threads = threads
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the spawner
        self._ability: dict[str, Json] | None = None

    @property
    def pid(self) -> int | None:
        """Process id of the running zygote, None if there is none."""
        return None if self._process is None else self._process.pid

    def launch(self) -> None:
        """Start the zygote without waiting until it is warm."""
        with self._lock:
            self._launch()

    def ability(self) -> Mapping[str, Json]:
        """Return what the zygote can use for isolation here, after it became warm."""
        with self._lock:
            return self._ready()

    def spawn(
        self,
        request: Mapping[str, Json],
        stdin: bytes,
        channel: socket.socket | None,
        release: Callable[[], None],
    ) -> Leash:
        """Ask for one child; returns when it is isolated and about to run.

        Args:
            request: What to start and how, as `supervise` reads it.
            stdin: What the child finds on its stdin.
            channel: The child's end of its channel; a command has none.
            release: Called once when the leash is closed.

        Raises:
            SandboxUnavailable: if no child could be started, or not be isolated.
        """
        for last in (False, True):
            ours, theirs = socket.socketpair()
            try:
                with theirs:
                    self._post(theirs, channel)
                return self._started(ours, request, stdin, release)
            except (FrameEnd, BrokenPipeError, ConnectionResetError) as fault:
                # The zygote died (killed by hand, or for memory): one new one is worth trying.
                ours.close()
                if last:
                    raise SandboxUnavailable(
                        f"the warm process dies: {self._log_tail()}", fix=_FIX
                    ) from fault
                self._drop(reason=fault)
            except BaseException:
                ours.close()
                raise
        raise AssertionError("unreachable")

    def close(self) -> None:
        """End the zygote; children that are still held live on until their leash is closed."""
        with self._lock:
            self._end()
            self._log.close()

    def _post(self, leash: socket.socket, channel: socket.socket | None) -> None:
        fds = [leash.fileno()] if channel is None else [leash.fileno(), channel.fileno()]
        with self._lock:
            self._ready()
            assert self._control is not None
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))
            self._control.sendmsg([b"+"], [rights], socket.MSG_NOSIGNAL)

    def _started(
        self,
        leash: socket.socket,
        request: Mapping[str, Json],
        stdin: bytes,
        release: Callable[[], None],
    ) -> Leash:
        deadline = time.monotonic() + _START_S
        try:
            send_frame(leash, 0, request, [stdin], deadline=deadline)
            answer = receive_frame(leash, deadline=deadline).header
        except (FrameLate, FrameError) as fault:
            raise SandboxUnavailable(
                f"a sandboxed process did not start within {_START_S:g} s", fix=_FIX
            ) from fault
        pid = answer.get("pid")
        if not isinstance(pid, int):
            raise SandboxUnavailable(
                f"a process could not be sandboxed: {answer.get('broken')}",
                fix=str(answer.get("fix") or _FIX),
            )
        return Leash(leash, pid, release)

    def _launch(self) -> None:
        if self._process is not None:
            return
        if self._log.closed:
            raise SandboxUnavailable("the sandbox is closed", fix="use it inside its `with` block")
        ours, theirs = socket.socketpair()
        with theirs:
            argv = [sys.executable, "-I", "-B", "-c", _BOOT, str(theirs.fileno())]
            argv += [package_folder(), json.dumps(site_folders()), json.dumps(self._options)]
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env=zygote_env(self._threads),
                cwd="/",
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._control = ours

    def _ready(self) -> Mapping[str, Json]:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        self._launch()
        if self._ability is None:
            assert self._control is not None
            try:
                frame = receive_frame(self._control, deadline=time.monotonic() + _READY_S)
            except (FrameEnd, FrameLate, FrameError) as fault:
                self._end()
                raise SandboxUnavailable(
                    f"the warm process did not start: {self._log_tail()}", fix=_FIX
                ) from fault
            self._control.settimeout(None)
            self._ability = frame.header
        return self._ability

    def _drop(self, *, reason: BaseException) -> None:
        with self._lock:
            process = self._process
            if process is None:
                return
            # An end-of-file may be seen a moment before the exit status is there to be read.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=2.0)
            if process.poll() is not None:
                self._end()
                return
        raise SandboxUnavailable("a supervisor died while it started", fix=_FIX) from reason

    def _end(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = self._control = self._ability = None

    def _log_tail(self) -> str:
        size = os.fstat(self._log.fileno()).st_size
        start = max(0, size - 2000)
        text = os.pread(self._log.fileno(), 2000, start).decode(errors="replace").strip()
        return text or "it said nothing"


def zygote_env(threads: int) -> dict[str, str]:
    """Return the environment of a zygote: nothing of the user's, one allocator policy for all."""
    return {
        "PATH": f"{os.path.dirname(sys.executable)}:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/nonexistent",
        "USER": "sandbox",
        "LOGNAME": "sandbox",
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": str(threads),
        "MALLOC_MMAP_MAX_": "0",
        "MALLOC_TRIM_THRESHOLD_": "17179869184",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
