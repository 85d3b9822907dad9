"""Programs of the kernel language on disk: accepted or refused, and the names they offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kernelwright.core.errors import UnknownName, UsageMistake
from kernelwright.dsl import CheckResult, Host, Program, check_file
from kernelwright.dsl.bind import Number
from kernelwright.dsl.check.binding import host_statements
from kernelwright.dsl.host_nodes import Hole, HostAssign
from kernelwright.dsl.nodes import ConstParam


def read_program(path: Path, *, target: str = "ascend910b") -> CheckResult:
    """Parse and check the program in a file; nothing of it is run.

    Raises:
        UsageMistake: if the file cannot be read.
        UnknownName: if there is no such target.
    """
    try:
        return check_file(path, target=target)
    except OSError as error:
        raise UsageMistake(
            f"{path} cannot be read: {error.strerror}", fix="name a file with a program"
        ) from error


def host_of(program: Program, name: str | None, file: Path) -> Host:
    """The host function of that name, or the file's only one.

    Raises:
        UsageMistake: if the file has none, or several and none is named.
        UnknownName: if there is none of that name.
    """
    hosts = {host.name.text: host for host in program.hosts}
    if not hosts:
        raise UsageMistake(
            f"{file} has kernels only", fix="add a host function (@tl.host) that launches them"
        )
    if name is None:
        if len(hosts) > 1:
            raise UsageMistake(
                f"{file} has several host functions", fix=f"add --host {' or --host '.join(hosts)}"
            )
        return next(iter(hosts.values()))
    if name not in hosts:
        raise UnknownName(f"{file} has no host function {name!r}", fix=f"known: {', '.join(hosts)}")
    return hosts[name]


def settings_of(host: Host, texts: Sequence[str]) -> tuple[dict[str, int], dict[str, Number]]:
    """What `--set` says: values of schedule holes, and all compile-time parameters.

    Args:
        texts: `NAME=VALUE`, several in one text separated by commas.

    Raises:
        UnknownName: if the function has neither a hole nor a compile-time parameter of a name.
        UsageMistake: if a value is no number, or a parameter has none.
    """
    holes = holes_of(host)
    consts = {p.name.text: p for p in host.params if isinstance(p, ConstParam)}
    schedule: dict[str, int] = {}
    values: dict[str, Number] = {
        name: param.default for name, param in consts.items() if param.default is not None
    }
    for item in (part.strip() for text in texts for part in text.split(",")):
        name, _, text = (word.strip() for word in item.partition("="))
        if not name and not text:
            continue
        if name not in holes and name not in consts:
            raise UnknownName(
                f"{host.name.text} has nothing to set called {name!r}",
                fix="known: "
                + (", ".join([*map(_hole_text, holes.values()), *consts]) or "nothing"),
            )
        if name in consts:
            values[name] = _value(name, text)
        if name in holes:
            schedule[name] = int(_whole(name, text))
    missing = [name for name in consts if name not in values]
    if missing:
        raise UsageMistake(
            f"the compile-time parameter {missing[0]} has no value", fix=f"add --set {missing[0]}=4"
        )
    return schedule, values


def holes_of(host: Host) -> Mapping[str, Hole]:
    """The schedule holes of a host function by name."""
    found: dict[str, Hole] = {}
    for item in host_statements(host.body):
        values = [item.value] if isinstance(item, HostAssign) else [v for _, v in item.arguments]
        found |= {value.name: value for value in values if isinstance(value, Hole)}
    return found


def _hole_text(hole: Hole) -> str:
    return f"{hole.name} (default {hole.default})"


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageMistake(
            f"{name} cannot be {text!r}", fix=f"give an integer, such as --set {name}=256"
        ) from None


def _value(name: str, text: str) -> Number:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise UsageMistake(f"{name} cannot be {text!r}", fix=f"give a number, such as --set {name}=3")
