"""The Linux calls that Python does not offer, by ctypes; every failure is an OSError."""

from __future__ import annotations

import ctypes
import os
import platform

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID, MS_NODEV = 2, 4
MS_REMOUNT, MS_BIND, MS_RDONLY = 32, 4096, 1
MS_REC, MS_PRIVATE = 16384, 1 << 18
MNT_DETACH = 2
_AT_RECURSIVE = 0x8000
_AT_FDCWD = -100
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID = 1, 2

CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2
_LAST_CAP = 63

_PR_SET_PDEATHSIG = 1
_PR_CAPBSET_DROP = 24
_PR_SET_SECUREBITS = 28
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_SECUREBITS_NO_ROOT = 0b101111  # noroot, no setuid fixup, both locked; keep-caps locked off

# Calls that are newer than both tables' split have one number everywhere.
_SAME = {
    "mount_setattr": 442,
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
}
_BY_MACHINE = {
    "x86_64": {"pivot_root": 155, "capset": 126, "seccomp": 317},
    "aarch64": {"pivot_root": 41, "capset": 91, "seccomp": 277},
}
MACHINE = platform.machine()
"""Name of the processor architecture, such as `x86_64`."""

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long


def is_supported() -> bool:
    """Whether system call numbers of this machine are known."""
    return MACHINE in _BY_MACHINE


def call(name: str, *args: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Make the system call `name`; integers are passed as 64 bits.

    Raises:
        OSError: what the kernel answered.
        KeyError: if the number is not known on this machine.
    """
    number = _SAME.get(name) or _BY_MACHINE[MACHINE][name]
    wide = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    return _checked(int(_LIBC.syscall(ctypes.c_long(number), *wide)), name)


def _checked(result: int, name: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


def unshare(flags: int) -> None:
    """Leave the namespaces that `flags` name."""
    _checked(_LIBC.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount a file system, or bind one tree to another place."""
    words = [word.encode() or None for word in (source, target, kind)]
    wide = ctypes.c_ulong(flags)
    _checked(_LIBC.mount(*words, wide, options.encode() or None), f"mount {target}")


def set_mount_attributes(target: str, attributes: int) -> None:
    """Set attributes on a mount and on every mount below it."""
    record = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    raw = ctypes.create_string_buffer(bytes(record), 32)
    call("mount_setattr", _AT_FDCWD, target.encode(), _AT_RECURSIVE, raw, 32)


def pivot_root(new_root: str, put_old: str) -> None:
    """Make `new_root` the root and move the old one to `put_old`."""
    call("pivot_root", new_root.encode(), put_old.encode())


def detach(target: str) -> None:
    """Unmount lazily."""
    _checked(_LIBC.umount2(target.encode(), ctypes.c_int(MNT_DETACH)), f"umount {target}")


def prctl(option: int, value: int, third: int = 0) -> None:
    """Change a property of this process."""
    zero = ctypes.c_ulong(0)
    wide = ctypes.c_ulong(value), ctypes.c_ulong(third), zero, zero
    _checked(_LIBC.prctl(ctypes.c_int(option), *wide), f"prctl {option}")


def set_parent_death_signal(number: int) -> None:
    """Have the kernel send this process a signal when the thread that forked it ends."""
    prctl(_PR_SET_PDEATHSIG, number)


def set_subreaper() -> None:
    """Become the parent of every orphan among this process's descendants."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def set_no_new_privileges() -> None:
    """Give up, for ever, gaining rights by executing a program."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_capability_bounds(keep: tuple[int, ...] = ()) -> None:
    """Make sure that no program executed later has other capabilities, not even as root."""
    for capability in range(_LAST_CAP + 1):
        if capability in keep:
            continue
        try:
            prctl(_PR_CAPBSET_DROP, capability)
        except OSError:
            # EINVAL: past the last capability of this kernel.
            break
    prctl(_PR_SET_SECUREBITS, _SECUREBITS_NO_ROOT)


def set_capabilities(keep: tuple[int, ...] = ()) -> None:
    """Hold exactly the capabilities in `keep`, none of them for programs executed later."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    mask = sum(1 << capability for capability in keep)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    data = (ctypes.c_uint32 * 6)(low, low, low, high, high, high)
    raw = ctypes.create_string_buffer(bytes(header), 8)
    call("capset", raw, ctypes.create_string_buffer(bytes(data), 24))


def held_capabilities() -> frozenset[int]:
    """Return the capabilities that this process may use."""
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith("CapPrm:"))
    mask = int(line.split()[1], 16)
    return frozenset(number for number in range(_LAST_CAP + 1) if mask >> number & 1)


def set_ambient(capability: int) -> None:
    """Pass a held capability on to programs that are executed later."""
    prctl(_PR_CAP_AMBIENT, 2, capability)
