"""Builds the walls around one child, in the order in which each must stand before the next."""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass

from kernelwright.sandbox.plan import Plan


@dataclass(frozen=True, slots=True)
class Ability:
    """What this machine lets us isolate with; found by trying, once a zygote.

    Attributes:
        is_root: Whether we can become another user.
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


def probe(*, namespaces: bool) -> Ability:
    return Ability(False, "none", False, 0, False)


def give_folder(plan: Plan, ability: Ability) -> None:
    return


def separate(ability: Ability) -> None:
    return


def confine(plan: Plan, ability: Ability) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir(plan.workdir)
