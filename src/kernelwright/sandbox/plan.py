"""What a supervisor was asked to start, as a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from kernelwright.core.fingerprint import Json
from kernelwright.sandbox.limits import Limits


@dataclass(frozen=True, slots=True)
class Package:
    """Where the top-level package of an entry is.

    Attributes:
        name: Its import name.
        origin: Its file.
        where: Its folders, empty for a single module.
    """

    name: str
    origin: str
    where: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """One child to start; it comes from the trusted side and is believed.

    Attributes:
        workdir: Resolved path of the only writable folder.
        limits: What it may use.
        env: Environment to add.
        readable: Absolute paths that it may read.
        uid: User and group to become when the product runs as root.
        argv: Command to execute, empty for a warm child.
        entry: `package.module:function` to call, empty for a command.
        package: Where the entry's package is.
    """

    workdir: str
    limits: Limits
    env: Mapping[str, str]
    readable: tuple[str, ...]
    uid: int
    argv: tuple[str, ...] = ()
    entry: str = ""
    package: Package | None = None

    def as_json(self) -> dict[str, Json]:
        """Return the plan as the header of a frame."""
        limit, package = self.limits, self.package
        return {
            "workdir": self.workdir,
            "env": dict(self.env),
            "readable": list(self.readable),
            "uid": self.uid,
            "argv": list(self.argv),
            "entry": self.entry,
            "limits": {name: getattr(limit, name) for name in Limits.__slots__},
            "package": None if package is None else _as_list(package),
        }


def plan_from(header: Mapping[str, Json]) -> Plan:
    """Read a plan back from the header that `Plan.as_json` made."""
    limits = cast("dict[str, float]", header["limits"])
    package = cast("tuple[str, str, list[str]] | None", header["package"])
    return Plan(
        workdir=cast(str, header["workdir"]),
        limits=Limits(**limits),  # type: ignore[arg-type]
        env=cast("dict[str, str]", header["env"]),
        readable=tuple(cast("list[str]", header["readable"])),
        uid=cast(int, header["uid"]),
        argv=tuple(cast("list[str]", header["argv"])),
        entry=cast(str, header["entry"]),
        package=None if package is None else Package(package[0], package[1], tuple(package[2])),
    )


def _as_list(package: Package) -> list[Json]:
    return [package.name, package.origin, list(package.where)]
