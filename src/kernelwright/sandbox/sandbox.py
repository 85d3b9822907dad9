"""The one way to run code that is not trusted: tasks, candidates and compilers."""

from __future__ import annotations

import importlib.util
import os
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from kernelwright.core.errors import SandboxUnavailable, UsageMistake
from kernelwright.core.fingerprint import Json
from kernelwright.sandbox.child import Child
from kernelwright.sandbox.frame import channel_pair
from kernelwright.sandbox.ground import Ground
from kernelwright.sandbox.leash import Leash
from kernelwright.sandbox.limits import Cause, Enforcement, Finished, Limits
from kernelwright.sandbox.plan import Package, Plan
from kernelwright.sandbox.proof import prove
from kernelwright.sandbox.readable import default_readable
from kernelwright.sandbox.spawner import Spawner
from kernelwright.sandbox.uids import Uids

_GRACE_S = 30.0
_NO_ENV: Mapping[str, str] = {}


class Sandbox:
    """Starts commands and warm children under limits; thread-safe; owns the processes it needs.

    Args:
        warm: Modules that a warm child finds imported, so that it starts in milliseconds.
        threads: OpenMP threads of each child.
        namespaces: False leaves kernel namespaces out, as on a machine where they are disabled.

    Raises:
        SandboxUnavailable: if this is not Linux.
    """

    def __init__(
        self, *, warm: tuple[str, ...] = ("torch",), threads: int = 1, namespaces: bool = True
    ) -> None:
        if sys.platform != "linux":
            raise SandboxUnavailable(
                f"untrusted code can be confined on Linux only, this is {sys.platform}",
                fix="use a Linux machine, container or virtual machine; see SECURITY.md",
            )
        self._open: set[Leash] = set()
        self._is_closed = False
        self._warm = Spawner(warm=warm, threads=threads, namespaces=namespaces)
        self._cold = Spawner(warm=(), threads=threads, namespaces=namespaces)

    def __enter__(self) -> Self:
        self._warm.launch()
        self._cold.launch()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kill every child that is still open and end the warm processes."""
        self._is_closed = True
        for leash in tuple(self._open):
            leash.kill()
        self._warm.close()
        self._cold.close()

    def run(  # noqa: PLR0913 - see the contract
        self,
        argv: Sequence[str],
        *,
        workdir: Path,
        limits: Limits,
        env: Mapping[str, str] = _NO_ENV,
        readable: Sequence[Path] = (),
        stdin: bytes = b"",
    ) -> Finished:
        """Execute a command to its end; only `workdir` is writable to it.

        Args:
            argv: Program (an absolute path, or a name on the PATH of the sandbox) and arguments.
            workdir: Its current folder; when the product runs as root, its files change owner.
            limits: What it may use.
            env: Added to a minimal environment; nothing of the user's is passed on.
            readable: Files and folders to read besides the system's libraries and this Python.
            stdin: What it reads from stdin.

        Raises:
            SandboxUnavailable: if it cannot be started or not be isolated.
            UsageMistake: if a path is missing.
        """
        plan = replace(_plan(workdir, limits, env, readable), argv=tuple(argv))
        leash = self._spawn(self._cold, plan, stdin, None)
        try:
            report = leash.wait(limits.wall_s + _GRACE_S) or leash.end()
        finally:
            leash.close()
        return Finished(
            report.returncode,
            report.stdout,
            report.stderr,
            report.wall_s,
            report.cpu_s,
            report.peak_bytes,
            report.cause or (None if report.signal is None else Cause.SIGNAL),
            report.signal,
        )

    def start(
        self,
        entry: str,
        *,
        workdir: Path,
        limits: Limits,
        env: Mapping[str, str] = _NO_ENV,
        readable: Sequence[Path] = (),
    ) -> Child:
        """Fork a warm child that is isolated, stands in `workdir` and calls `entry`.

        Args:
            entry: `package.module:function`; the function gets a `Channel`. The module is imported
                in the child; the product never imports it.
            workdir: As in `run`.
            limits: For the child's whole life; memory counts from what a warm child starts with.
            env: As in `run`.
            readable: As in `run`.

        Raises:
            SandboxUnavailable: if it cannot be started or not be isolated.
            UsageMistake: if a path or the entry's package is missing.
        """
        return self._start(self._warm, entry, _plan(workdir, limits, env, readable))

    def ability(self) -> Mapping[str, Json]:
        """Return the mechanisms that were found to work here: see `isolate.Ability`."""
        return self._cold.ability()

    def enforced(self) -> tuple[Enforcement, ...]:
        """Try to break each protection on this machine, in a few seconds, and say what held.

        Raises:
            SandboxUnavailable: if no child can be started at all.
        """

        def start(entry: str, *, workdir: Path, limits: Limits) -> Child:
            return self._start(self._cold, entry, _plan(workdir, limits, {}, ()))

        with tempfile.TemporaryDirectory(prefix="kernelwright-proof-") as root:
            # Others must be able to get in, or the attempts would fail for want of a way.
            os.chmod(root, 0o755)
            return prove(Ground(start, self.ability(), Path(root)))

    def _start(self, spawner: Spawner, entry: str, plan: Plan) -> Child:
        package = _package_of(entry)
        readable = (*plan.readable, *(package.where or (package.origin,)))
        plan = replace(plan, entry=entry, package=package, readable=readable)
        ours, theirs = channel_pair()
        try:
            with theirs:
                leash = self._spawn(spawner, plan, b"", theirs)
        except BaseException:
            ours.close()
            raise
        return Child(ours, leash)

    def _spawn(
        self, spawner: Spawner, plan: Plan, stdin: bytes, channel: socket.socket | None
    ) -> Leash:
        uid = _UIDS.take()
        held: list[Leash] = []

        def release() -> None:
            _UIDS.give_back(uid)
            self._open.difference_update(held)

        try:
            leash = spawner.spawn(replace(plan, uid=uid).as_json(), stdin, channel, release)
        except BaseException:
            release()
            raise
        held.append(leash)
        self._open.add(leash)
        if self._is_closed:
            # It was closed while this child was being made.
            leash.kill()
        return leash


_UIDS = Uids()


def _plan(workdir: Path, limits: Limits, env: Mapping[str, str], readable: Sequence[Path]) -> Plan:
    if not workdir.is_dir():
        raise UsageMistake(f"there is no folder {workdir}", fix="create the work folder first")
    for path in readable:
        if not path.exists():
            raise UsageMistake(f"there is no {path}", fix="name only files that exist")
    paths = (*default_readable(), *(str(path.absolute()) for path in readable))
    return Plan(str(workdir.resolve()), limits, dict(env), paths, uid=0)


def _package_of(entry: str) -> Package:
    """Where the entry's top-level package is: the child loads it from there and nowhere else."""
    name = entry.partition(":")[0].partition(".")[0]
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise UsageMistake(f"there is no package {name!r}", fix=f"install it, or correct {entry!r}")
    return Package(name, spec.origin, tuple(spec.submodule_search_locations or ()))
