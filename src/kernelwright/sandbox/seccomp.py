"""A filter of system calls: no sockets, no look into other processes, no new kernel surface."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterator, Mapping

from kernelwright.sandbox.syscalls import MACHINE, call

_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_COLUMN = {"x86_64": 0, "aarch64": 1}

# (x86_64, aarch64); one number where both agree, None where the call does not exist.
_Numbers = tuple[int | None, int | None]
_DENIED: dict[str, _Numbers | int] = {
    # Network, and sockets that lie in the file system. socketpair stays: it reaches nobody.
    "socket": (41, 198),
    "connect": (42, 203),
    "accept": (43, 202),
    "accept4": (288, 242),
    "bind": (49, 200),
    "listen": (50, 201),
    # Other processes.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_send_signal": 424,
    "pidfd_open": 434,
    "pidfd_getfd": 438,
    "process_madvise": 440,
    "process_mrelease": 448,
    # Mounts and namespaces.
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "mount_setattr": 442,
    "statmount": 457,
    "listmount": 458,
    "open_tree_attr": 467,
    # Memory that belongs to no process, and so to no limit.
    "memfd_create": (319, 279),
    "memfd_secret": 447,
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    # Kernel interfaces with a history of faults, and the machine's state.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": 443,
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    # Buffers in the kernel belong to no process: they keep their ordinary sizes.
    "setsockopt": (54, 208),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
}
# Without a PID namespace these reach every process of the user: only oneself (0) is allowed.
_ONLY_SELF: dict[str, _Numbers | int] = {
    "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
}
_SIGNALS: dict[str, _Numbers | int] = {
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
}
# Landlock guards contents, not modes, owners, times and attributes, and before version 3 not even
# the length: where a child has the user's own identity and sees the user's files, none may change.
_CHANGES: dict[str, _Numbers | int] = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": 452,
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": 463,
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": 466,
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "truncate": (76, 45),
}
_SET_PRIORITY: tuple[_Numbers, ...] = ((141, 140), (251, 30))
_CLONE: _Numbers = (56, 220)
_CLONE3 = 435
_IOCTL: _Numbers = (16, 29)
_NEW_NAMESPACES = 0x7E020000
_TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_FCNTL: _Numbers = (72, 25)
_SET_PIPE_SIZE = 1031

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_NR_AT, _ARCH_AT, _ARG0_AT, _ARG1_AT = 0, 4, 16, 24
_X32_BIT = 0x40000000


def is_filter_known() -> bool:
    """Whether there is a filter for this machine's system call numbers."""
    return MACHINE in _ARCH


def install_filter(*, shares_pids: bool, signals_are_scoped: bool, shares_files: bool) -> None:
    """Filter the system calls of this process and of everything it starts; needs no_new_privs.

    Args:
        shares_pids: Whether other processes of the user can be named, for want of a namespace.
        signals_are_scoped: Whether something else already keeps signals inside.
        shares_files: Whether files that the user owns can be named.
    """
    denied = {**_DENIED, **_CHANGES} if shares_files else _DENIED
    program = b"".join(_program(denied, shares_pids, shares_pids and not signals_are_scoped))
    code = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: a length and, after padding, a pointer.
    record = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(code))
    call("seccomp", 1, 0, ctypes.create_string_buffer(record, len(record)))


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


def _fail(code: int) -> bytes:
    return _op(_RETURN, _ERRNO | code)


def _program(
    denied: Mapping[str, _Numbers | int], shares_pids: bool, filter_signals: bool
) -> Iterator[bytes]:
    yield _op(_LOAD, _ARCH_AT)
    yield _op(_EQUAL, _ARCH[MACHINE], 1, 0)
    yield _op(_RETURN, _KILL)
    yield _op(_LOAD, _NR_AT)
    if MACHINE == "x86_64":
        yield _op(_AT_LEAST, _X32_BIT, 0, 1)
        yield _fail(errno.EPERM)
    # glibc falls back to clone, whose flags can be seen here.
    yield _op(_EQUAL, _CLONE3, 0, 1)
    yield _fail(errno.ENOSYS)
    for number in map(_number, denied.values()):
        if number is not None:
            yield _op(_EQUAL, number, 0, 1)
            yield _fail(errno.EPERM)
    yield from _denied_if(_number(_CLONE), _ARG0_AT, [_op(_ANY_BIT, _NEW_NAMESPACES, 0, 1)])
    yield from _denied_if(
        _number(_IOCTL), _ARG1_AT, [_op(_EQUAL, value, 0, 1) for value in _TERMINAL_INPUT]
    )
    yield from _denied_if(_number(_FCNTL), _ARG1_AT, [_op(_EQUAL, _SET_PIPE_SIZE, 0, 1)])
    if shares_pids:
        for number in map(_number, _ONLY_SELF.values()):
            yield from _denied_if(number, _ARG0_AT, [_op(_EQUAL, 0, 1, 0)])
        for number in map(_number, _SET_PRIORITY):
            yield _op(_EQUAL, number or 0, 0, 1)
            yield _fail(errno.EPERM)
    if filter_signals:
        for number in map(_number, _SIGNALS.values()):
            # abort() and friends signal their own process; nobody else may be signalled.
            yield from _denied_if(number, _ARG0_AT, [_op(_EQUAL, os.getpid(), 1, 0)])
    yield _op(_RETURN, _ALLOW)


def _number(entry: _Numbers | int) -> int | None:
    return entry if isinstance(entry, int) else entry[_COLUMN[MACHINE]]


def _denied_if(number: int | None, argument_at: int, tests: list[bytes]) -> Iterator[bytes]:
    """Deny call `number` if a test on an argument falls through to the next instruction."""
    if number is None:
        return
    yield _op(_EQUAL, number, 0, 2 + 2 * len(tests))
    yield _op(_LOAD, argument_at)
    for test in tests:
        yield test
        yield _fail(errno.EPERM)
    yield _op(_LOAD, _NR_AT)
