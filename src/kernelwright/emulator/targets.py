"""Chips as the timing model knows them: one TOML file a chip, a source for every figure.

A chip may extend another and then states only what differs. `flatten` gives the figures in the
order in which the runtime library takes them; that order is read from the library's own
`runtime/timing_*.def`, so Python and C++ cannot disagree.
"""

from __future__ import annotations

import ctypes
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kernelwright.core.errors import MachineLacks, UnknownName
from kernelwright.core.fingerprint import Json, fingerprint

TARGET_FOLDER = Path(__file__).parent / "targets"
RUNTIME_FOLDER = Path(__file__).parent / "runtime"
TIMING_VERSION = "1"
"""Version of the timing model's rules; the figures of a chip add their own fingerprint."""

DEFAULT_CHIP = "910B2"
VECTOR_FIELDS = ("head", "interval", "cycles16", "cycles32")
_CURVES = ("read_gbps", "write_gbps")
_SHARED_SOURCES = {"assumed": "estimate, no public measurement"}


@dataclass(frozen=True, slots=True)
class VectorFigures:
    """Cycles of one vector operation: to start, before a dependent one, and a repeat of 256 B."""

    head: float
    interval: float
    cycles16: float
    cycles32: float


def figures_of(operation: VectorFigures) -> tuple[float, ...]:
    """Return an operation's figures in the order of `VECTOR_FIELDS`."""
    return tuple(float(getattr(operation, name)) for name in VECTOR_FIELDS)


@dataclass(frozen=True, slots=True)
class Chip:
    """One chip's figures.

    Attributes:
        name: File name without suffix, such as `910B2`.
        npu_arch: Architecture number of the vendor, such as `2201`.
        memory: On-chip sizes in bytes.
        constants: Scalars of the timing model; names carry their units.
        vector: Cost of each vector operation.
        read_gbps: GB/s (1e9 bytes) of one core reading global memory when 1, 2, ... cores do.
        write_gbps: The same for writing.
        sources: Where each figure comes from, by its path: `constants.clock_mhz`, `vector.Add`.
    """

    name: str
    npu_arch: str
    memory: Mapping[str, float]
    constants: Mapping[str, float]
    vector: Mapping[str, VectorFigures]
    read_gbps: tuple[float, ...]
    write_gbps: tuple[float, ...]
    sources: Mapping[str, str]

    @property
    def version(self) -> str:
        """Name of the model with these figures, as every simulated time states it."""
        figures: list[Json] = [
            self.name,
            dict(self.constants),
            {name: list(figures_of(operation)) for name, operation in self.vector.items()},
            list(self.read_gbps),
            list(self.write_gbps),
        ]
        return f"ascend-timing {TIMING_VERSION} {self.name} {fingerprint(figures)[:8]}"


@dataclass(frozen=True, slots=True)
class FlatTiming:
    """A chip's figures in the order of the runtime library."""

    version: str
    constants: tuple[float, ...]
    vector: tuple[float, ...]
    read_gbps: tuple[float, ...]
    write_gbps: tuple[float, ...]


def chip_names(*, folder: Path = TARGET_FOLDER) -> tuple[str, ...]:
    """Return the chips that have a file."""
    return tuple(sorted(file.stem for file in folder.glob("*.toml")))


def load_chip(name: str, *, folder: Path = TARGET_FOLDER) -> Chip:
    """Read the figures of the chip called `name`, in any of the vendor's spellings.

    Raises:
        UnknownName: if no file fits.
        MachineLacks: if a file holds a figure without a source, or one that no chip has.
    """
    found = _file_name(name, folder)
    layers: list[Mapping[str, object]] = []
    while found:
        document = tomllib.loads((folder / f"{found}.toml").read_text(encoding="utf-8"))
        layers.insert(0, document)
        found = str(document.get("extends", ""))
    return _chip(layers)


def flatten(chip: Chip, *, folder: Path = RUNTIME_FOLDER) -> FlatTiming:
    """Return the figures of `chip` in the order of the runtime library's own lists.

    Raises:
        MachineLacks: if the chip lacks a figure that the library needs.
    """
    constants = _names(folder / "timing_constants.def", "KW_CONSTANT")
    operations = _names(folder / "timing_ops.def", "KW_VECTOR_OP")
    missing = sorted(
        [f"constants.{name}" for name in constants if name not in chip.constants]
        + [f"vector.{name}" for name in operations if name not in chip.vector]
    )
    if missing:
        raise MachineLacks(
            f"chip {chip.name} states no {', '.join(missing)}",
            fix=f"add the figures with their source to {chip.name}.toml",
        )
    return FlatTiming(
        version=chip.version,
        constants=tuple(chip.constants[name] for name in constants),
        vector=tuple(x for name in operations for x in figures_of(chip.vector[name])),
        read_gbps=chip.read_gbps,
        write_gbps=chip.write_gbps,
    )


def vector_operations(*, folder: Path = RUNTIME_FOLDER) -> tuple[str, ...]:
    """Return the vector operations that the library tells apart, in its order."""
    return _names(folder / "timing_ops.def", "KW_VECTOR_OP")


def configure(library: ctypes.CDLL, chip: Chip) -> None:
    """Make `chip` the chip whose time the next launches of `library` simulate.

    Raises:
        MachineLacks: if the library was built from other sources than these.
    """
    flat = flatten(chip)
    cores = min(len(flat.read_gbps), len(flat.write_gbps))
    refused = library.kw_timing_configure(
        flat.version.encode(),
        _doubles(flat.constants),
        ctypes.c_int(len(flat.constants)),
        _doubles(flat.vector),
        ctypes.c_int(len(flat.vector)),
        _doubles(flat.read_gbps[:cores]),
        _doubles(flat.write_gbps[:cores]),
        ctypes.c_int(cores),
    )
    if refused:
        raise MachineLacks(
            f"the emulator's library does not take the figures of {chip.name}",
            fix="remove the cached emulator library, so that it is built anew",
        )


def _doubles(values: tuple[float, ...]) -> ctypes.Array[ctypes.c_double]:
    return (ctypes.c_double * max(1, len(values)))(*values)


def _names(path: Path, macro: str) -> tuple[str, ...]:
    return tuple(re.findall(rf"^{macro}\((\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))


def _file_name(name: str, folder: Path) -> str:
    """Find `910B2` for `Ascend910B2`, `ascend910b2`, `ai_core-Ascend910B2` or `Ascend910B`."""
    known = {stem.upper(): stem for stem in chip_names(folder=folder)}
    plain = re.sub(r"^(AI_CORE-)?(ASCEND)?", "", name.upper())
    if plain == "910B":
        return DEFAULT_CHIP
    plain = re.sub(r"^310P\d$", "310P", plain)
    if plain not in known:
        raise UnknownName(
            f"there is no chip called {name!r}", fix=f"known: {', '.join(sorted(known.values()))}"
        )
    return known[plain]


def _chip(layers: list[Mapping[str, object]]) -> Chip:
    tables: dict[str, dict[str, float]] = {"memory": {}, "constants": {}}
    vector: dict[str, VectorFigures] = {}
    curves: dict[str, tuple[float, ...]] = dict.fromkeys(_CURVES, ())
    sources: dict[str, str] = {}
    for layer in layers:
        names = _table(layer, "sources")
        for table, into in tables.items():
            for key, entry in _entries(layer, table):
                into[key] = _number(entry, "value", f"{table}.{key}")
                sources[f"{table}.{key}"] = _source(entry, names, f"{table}.{key}")
        for key, entry in _entries(layer, "vector"):
            vector[key] = VectorFigures(
                *(_number(entry, field, f"vector.{key}") for field in VECTOR_FIELDS)
            )
            sources[f"vector.{key}"] = _source(entry, names, f"vector.{key}")
        for key in _CURVES:
            curve = _table(layer, key)
            if curve:
                curves[key] = _numbers(curve.get("values"), key)
                sources[key] = _source(curve, names, key)
    last = layers[-1]
    return Chip(
        name=str(last["name"]),
        npu_arch=str(last["npu_arch"]),
        memory=tables["memory"],
        constants=tables["constants"],
        vector=vector,
        read_gbps=curves["read_gbps"],
        write_gbps=curves["write_gbps"],
        sources=sources,
    )


def _table(layer: Mapping[str, object], key: str) -> Mapping[str, object]:
    table = layer.get(key, {})
    if not isinstance(table, Mapping):
        raise _unreadable(key, "is not a table")
    return table


def _entries(layer: Mapping[str, object], key: str) -> list[tuple[str, Mapping[str, object]]]:
    table = _table(layer, key)
    return [(name, _table(table, name)) for name in table]


def _number(entry: Mapping[str, object], field: str, figure: str) -> float:
    value = entry.get(field)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _unreadable(figure, f"has no number {field!r}")
    return float(value)


def _numbers(values: object, figure: str) -> tuple[float, ...]:
    if not isinstance(values, list) or not all(isinstance(x, int | float) for x in values):
        raise _unreadable(figure, "is not a list of numbers")
    return tuple(float(x) for x in values)


def _source(entry: Mapping[str, object], names: Mapping[str, object], figure: str) -> str:
    source = names.get(str(entry.get("source", "")), _SHARED_SOURCES.get(str(entry.get("source"))))
    if source is None:
        raise _unreadable(figure, "names no source")
    return str(source)


def _unreadable(figure: str, wrong: str) -> MachineLacks:
    return MachineLacks(
        f"{figure} {wrong}", fix="mend the chip's file: each figure has a value and a source"
    )
