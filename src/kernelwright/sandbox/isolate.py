"""Builds the walls around one child, in the order in which each must stand before the next."""

from __future__ import annotations

import os
import resource
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from kernelwright.sandbox.folder import entries_below
from kernelwright.sandbox.landlock import (
    GUARDED_LENGTHS,
    SCOPED_SIGNALS,
    landlock_version,
    restrict,
)
from kernelwright.sandbox.plan import Plan
from kernelwright.sandbox.readable import DEVICES, is_readable_by_all
from kernelwright.sandbox.seccomp import install_filter, is_filter_known
from kernelwright.sandbox.syscalls import (
    CAP_DAC_OVERRIDE,
    CAP_DAC_READ_SEARCH,
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    drop_capability_bounds,
    held_capabilities,
    is_supported,
    set_ambient,
    set_capabilities,
    set_no_new_privileges,
    set_parent_death_signal,
    unshare,
)
from kernelwright.sandbox.view import enter_view
from kernelwright.sandbox.watch import read_stat

_NAMESPACES = CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC
_MEMLOCK_BYTES = 64 << 10
_NOBODY = 65534
_RESERVE_BYTES = 16 << 30
"""Address space of a warm child for stacks, arenas and mapped libraries; even its page tables, at
one page for 2 MiB, are small."""


@dataclass(frozen=True, slots=True)
class Ability:
    """What this machine lets us isolate with; found by trying, once a zygote.

    Attributes:
        is_root: Whether a child can become a user that nobody else is.
        namespaces: `root`, `user` (through a user namespace) or `none`.
        mounts: Whether a child can get its own view of the file system.
        landlock: Version of Landlock, 0 where there is none.
        seccomp: Whether system calls can be filtered.
    """

    is_root: bool
    namespaces: str
    mounts: bool
    landlock: int
    seccomp: bool

    @property
    def hides_owned_files(self) -> bool:
        """Whether what the user owns is out of reach; Landlock alone does not guard modes."""
        return self.is_root or self.mounts


def probe(uid: int, *, namespaces: bool) -> Ability:
    """Find out what works here by trying each mechanism in a process that is thrown away.

    Args:
        uid: A user id that children may become when we are root; 0 if there is none.
        namespaces: Whether namespaces may be used at all.
    """
    is_root = os.geteuid() == 0 and uid > 0 and _works(lambda: _become_user(uid))
    known = is_supported()
    kind = ("root" if is_root else "user") if namespaces and known else "none"
    trial = Ability(is_root, kind, False, landlock_version() if known else 0, False)
    if kind != "none" and not _works(lambda: separate(trial)):
        kind = "none"

    def mounts() -> None:
        separate(trial)
        enter_view(readable=("/usr", "/dev/null"), writable="/")

    def seccomp() -> None:
        set_no_new_privileges()
        install_filter(shares_pids=True, signals_are_scoped=False, shares_files=True)

    return Ability(
        is_root=is_root,
        namespaces=kind,
        mounts=kind != "none" and _works(mounts),
        landlock=trial.landlock,
        seccomp=known and is_filter_known() and _works(seccomp),
    )


def _works(attempt: Callable[[], None]) -> bool:
    pid = os.fork()
    if pid == 0:
        try:
            attempt()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - any fault means that it does not work here
            traceback.print_exc()
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def give_folder(plan: Plan, ability: Ability) -> None:
    """Make the work folder, in which nothing runs yet, usable for the child.

    As root it and what is in it change owner. Where the child must not change modes, a program of
    its folder that it shall execute is made executable, which linkers leave undone there.
    """
    if ability.is_root:
        os.chown(plan.workdir, plan.uid, plan.uid)
        for entry in entries_below(plan.workdir):
            # A file with a second name is also somebody else's: it stays read-only.
            if entry.is_folder or entry.links == 1:
                os.chown(entry.path, plan.uid, plan.uid, follow_symlinks=False)
    if not ability.mounts and plan.argv:
        program = os.path.join(plan.workdir, plan.argv[0])
        inside = os.path.realpath(program).startswith(plan.workdir + "/")
        if inside and os.path.isfile(program):
            os.chmod(program, os.stat(program).st_mode | 0o100)


def separate(ability: Ability) -> None:
    """Leave the machine's namespaces; processes forked after this are in a PID namespace."""
    if ability.namespaces == "root":
        unshare(_NAMESPACES)
    elif ability.namespaces == "user":
        uid, gid = os.geteuid(), os.getegid()
        unshare(_NAMESPACES | CLONE_NEWUSER)
        for name, text in (
            ("setgroups", "deny"),
            # Root of a container that has no other user is nobody inside.
            ("uid_map", f"{uid or _NOBODY} {uid} 1"),
            ("gid_map", f"{gid or _NOBODY} {gid} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)


def confine(plan: Plan, ability: Ability) -> None:
    """Put every wall around this process; it is the child from here on.

    Raises:
        OSError: if a mechanism that worked in the probe is refused.
    """
    with open("/proc/self/oom_score_adj", "w") as file:
        # If memory does run out, the untrusted go first.
        file.write("1000")
    keep = _needed_capabilities(plan, ability)
    processes = _process_limit(plan, ability)
    data = _data_bytes() if plan.entry else 0
    if ability.mounts:
        enter_view(readable=(*plan.readable, *DEVICES), writable=plan.workdir)
    os.chdir(plan.workdir)
    _set_limits(plan, processes=processes, data_bytes=data)
    if ability.is_root:
        _become_user(plan.uid, keep)
    elif ability.namespaces == "user":
        drop_capability_bounds()
        set_capabilities()
    set_no_new_privileges()
    # A change of user has cleared this; where there is a PID namespace it is a second string.
    set_parent_death_signal(signal.SIGKILL)
    if ability.landlock:
        restrict(ability.landlock, readable=plan.readable, devices=DEVICES, writable=plan.workdir)
    if ability.seccomp:
        install_filter(
            shares_pids=ability.namespaces == "none",
            signals_are_scoped=ability.landlock >= SCOPED_SIGNALS,
            shares_files=not ability.hides_owned_files or CAP_DAC_OVERRIDE in keep,
        )


def _become_user(uid: int, keep: tuple[int, ...] = ()) -> None:
    os.setgroups([])
    drop_capability_bounds(keep)
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    set_capabilities(keep)
    for capability in keep:
        set_ambient(capability)


def _needed_capabilities(plan: Plan, ability: Ability) -> tuple[int, ...]:
    """As root: whether the child must keep the right to read what only root may read.

    It is needed where this Python or a file that was handed over is closed to other users. What
    the child can name at all is limited by its view and by Landlock, and it cannot write.
    """
    paths = [*plan.readable, os.__file__, __file__]
    # Without a view of its own, the child must also be able to get to its folder.
    paths += [] if ability.mounts else [os.path.dirname(plan.workdir)]
    closed = [p for p in paths if not is_readable_by_all(p, with_parents=not ability.mounts)]
    if not ability.is_root or not closed:
        return ()
    held = held_capabilities()
    if CAP_DAC_READ_SEARCH in held and (ability.mounts or ability.landlock):
        return (CAP_DAC_READ_SEARCH,)
    if CAP_DAC_OVERRIDE in held and ability.landlock >= GUARDED_LENGTHS:
        # All that an ordinary container has: Landlock still lets nothing be written elsewhere.
        return (CAP_DAC_OVERRIDE,)
    raise PermissionError(
        f"{closed[0]} can be reached by root only: make it readable for other users, or run as"
        " one of them, or grant the container CAP_SYS_ADMIN"
    )


def _process_limit(plan: Plan, ability: Ability) -> int:
    wanted = plan.limits.processes
    if ability.is_root:
        return wanted
    if ability.namespaces == "user":
        # The kernel counts by namespace: the supervisor and the first process are in it, too.
        return wanted + 2
    mine = os.geteuid()
    return wanted + sum(_threads_of(mine, name) for name in os.listdir("/proc") if name.isdigit())


def _threads_of(uid: int, name: str) -> int:
    try:
        if os.stat(f"/proc/{name}").st_uid != uid:
            return 0
    except (FileNotFoundError, ProcessLookupError):
        return 0
    stat = read_stat(int(name))
    return 0 if stat is None else stat.threads


def _data_bytes() -> int:
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith("VmData:"))
    return int(line.split()[1]) << 10


def _set_limits(plan: Plan, *, processes: int, data_bytes: int) -> None:
    limits = plan.limits
    cpu = max(1, -int(-limits.cpu_s // 1))
    allowed = (limits.virtual_bytes or limits.memory_bytes) + data_bytes
    # A warm child reserves much address space that costs little: what it can write to is counted.
    reserve = _RESERVE_BYTES if plan.entry else 0
    for kind, soft, hard in (
        (resource.RLIMIT_DATA, allowed, allowed),
        (resource.RLIMIT_AS, allowed + reserve, allowed + reserve),
        (resource.RLIMIT_CPU, cpu, cpu + 1),
        (resource.RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files, limits.open_files),
        (resource.RLIMIT_NPROC, processes, processes),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_MEMLOCK, _MEMLOCK_BYTES, _MEMLOCK_BYTES),
        (resource.RLIMIT_MSGQUEUE, 0, 0),
    ):
        most = resource.getrlimit(kind)[1]
        fits = most == resource.RLIM_INFINITY
        resource.setrlimit(kind, (soft, hard) if fits else (min(soft, most), min(hard, most)))
