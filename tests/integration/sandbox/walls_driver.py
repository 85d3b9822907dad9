"""Prints what a sandbox enforces for whoever runs this, as JSON; started by `test_walls.py`.

Usage: walls_driver.py NAMESPACES [UID WAY...]. NAMESPACES is `on`, `off`, or `refused`: asked for
where the kernel has none left to give. With a UID it becomes that user first; each WAY is a
path that the user must be able to reach although only root may enter its parents.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from kernelwright.sandbox import Sandbox
from kernelwright.sandbox.syscalls import (
    CLONE_NEWNS,
    CLONE_NEWUSER,
    MS_BIND,
    MS_PRIVATE,
    MS_REC,
    mount,
    unshare,
)

UNREACHABLE = 77


def become(uid: int, ways: list[str]) -> None:
    """Turn root into an ordinary user that can reach `ways`; nothing changes for anybody else."""
    closed = {way: first for way in ways if (first := _first_closed(way)) is not None}
    if closed:
        try:
            unshare(CLONE_NEWNS)
        except PermissionError:
            sys.stderr.write(f"only root may enter {', '.join(closed.values())}")
            sys.exit(UNREACHABLE)
        mount("none", "/", "", MS_REC | MS_PRIVATE)
        held = {way: os.open(way, os.O_PATH) for way in closed}
        for parent in sorted(set(closed.values())):
            mount("tmpfs", parent, "tmpfs", 0, "mode=0755")
        for way, fd in held.items():
            os.makedirs(way, exist_ok=True)
            mount(f"/proc/self/fd/{fd}", way, "", MS_BIND | MS_REC)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def use_up_namespaces() -> None:
    """Enter a user namespace in which no further one can be made."""
    uid, gid = os.geteuid(), os.getegid()
    unshare(CLONE_NEWUSER)
    for path, text in (
        ("/proc/self/setgroups", "deny"),
        ("/proc/self/uid_map", f"{uid} {uid} 1"),
        ("/proc/self/gid_map", f"{gid} {gid} 1"),
        ("/proc/sys/user/max_user_namespaces", "0"),
    ):
        Path(path).write_text(text)


def _first_closed(way: str) -> str | None:
    parents = reversed(Path(way).parents)
    return next((str(p) for p in parents if not p.stat().st_mode & 0o1), None)


def main(namespaces: str, uid: str = "", *ways: str) -> None:
    if uid:
        become(int(uid), list(ways))
        # A new program: an ordinary user's process, not one that used to be root's.
        os.execv(sys.executable, [sys.executable, __file__, namespaces])
    if namespaces == "refused":
        use_up_namespaces()
        os.execv(sys.executable, [sys.executable, __file__, "on"])
    with Sandbox(warm=(), namespaces=namespaces == "on") as sandbox:
        rows = [asdict(row) for row in sandbox.enforced()]
        found = {"rows": rows, "ability": dict(sandbox.ability()), "uid": os.geteuid()}
        sys.stdout.write(json.dumps(found))


main(*sys.argv[1:])
