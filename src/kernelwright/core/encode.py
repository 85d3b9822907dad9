"""Records as versioned JSON: one rule for every frozen dataclass in `core`.

A record becomes `{"record": "Rollout", "record_version": 1, ...fields}`. Fields are read back by
their annotations, so a record that does not fit its class is refused instead of half-read. A change
to a record's fields raises its version in `VERSIONS` and adds a migration to `MIGRATIONS`; a
released migration is never edited (docs/adr/0007).
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeVar, cast

from kernelwright.core.errors import RecordUnreadable
from kernelwright.core.fingerprint import Json

R = TypeVar("R")

VERSIONS: Mapping[str, int] = {"GateReport": 2}
"""Version of each record by class name; 1 where nothing is said."""

MIGRATIONS: Mapping[tuple[str, int], Callable[[dict[str, Json]], dict[str, Json]]] = {
    ("GateReport", 1): lambda fields: {**fields, "faults": []},
}
"""(record, version) to the function that turns its JSON into the next version's."""

_HINTS: dict[type, dict[str, Any]] = {}


def to_json(record: object) -> Json:
    """Return a record (or a tuple, mapping, enum or scalar inside one) as JSON.

    Floats that JSON cannot carry are written as the strings `"nan"`, `"inf"` and `"-inf"`.
    """
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        name = type(record).__name__
        fields = {f.name: to_json(getattr(record, f.name)) for f in dataclasses.fields(record)}
        return {"record": name, "record_version": VERSIONS.get(name, 1), **fields}
    if isinstance(record, StrEnum):
        return record.value
    if isinstance(record, float) and (record != record or record in (_INF, -_INF)):
        return str(record)
    if isinstance(record, (tuple, list)):
        return [to_json(item) for item in record]
    if isinstance(record, Mapping):
        return {str(key): to_json(value) for key, value in record.items()}
    if record is None or isinstance(record, (bool, int, float, str)):
        return record
    raise TypeError(f"{type(record).__name__} is no part of a record")


def from_json(kind: type[R], data: Json) -> R:
    """Read a record of class `kind` back from its JSON, migrating older versions.

    Raises:
        RecordUnreadable: if the JSON is of another record, a newer version, or does not fit.
    """
    return cast(R, _read(kind, data))


_INF = float("inf")


def _read(hint: Any, data: Json) -> Any:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _read_record(hint, data)
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        return _read_union(typing.get_args(hint), data)
    if origin is tuple:
        return _read_tuple(typing.get_args(hint), data)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _checked(hint, data, lambda: hint(str(data)))
    return _read_scalar(hint, data)


def _read_record(kind: type, data: Json) -> Any:
    name = kind.__name__
    if not isinstance(data, Mapping) or data.get("record") != name:
        raise _unreadable(name, data)
    fields = dict(data)
    version, current = fields.pop("record_version", None), VERSIONS.get(name, 1)
    while isinstance(version, int) and version < current:
        fields = dict(MIGRATIONS[name, version](fields))
        version += 1
    if version != current:
        raise RecordUnreadable(
            f"a {name} of version {version!r} cannot be read; this version reads up to {current}",
            fix="upgrade kernelwright to the version that wrote it",
        )
    fields.pop("record")
    if kind not in _HINTS:
        _HINTS[kind] = typing.get_type_hints(kind)
    hints = _HINTS[kind]
    known = {f.name for f in dataclasses.fields(kind)}
    if set(fields) - known:
        raise _unreadable(name, data)
    values = {key: _read(hints[key], value) for key, value in fields.items()}
    return _checked(kind, data, lambda: kind(**values))


def _read_union(options: tuple[Any, ...], data: Json) -> Any:
    if data is None and type(None) in options:
        return None
    rest = [option for option in options if option is not type(None)]
    if isinstance(data, Mapping):
        for option in rest:
            if getattr(option, "__name__", None) == data.get("record"):
                return _read(option, data)
    if len(rest) == 1:
        return _read(rest[0], data)
    raise _unreadable(" | ".join(str(option) for option in rest), data)


def _read_tuple(parts: tuple[Any, ...], data: Json) -> Any:
    if not isinstance(data, (list, tuple)):
        raise _unreadable("tuple", data)
    if len(parts) == 2 and parts[1] is Ellipsis:
        return tuple(_read(parts[0], item) for item in data)
    if len(parts) != len(data):
        raise _unreadable("tuple", data)
    return tuple(_read(part, item) for part, item in zip(parts, data, strict=True))


def _read_scalar(hint: Any, data: Json) -> Any:
    if hint is float and isinstance(data, (int, float, str)) and not isinstance(data, bool):
        return _checked(hint, data, lambda: float(data))
    if hint is int and isinstance(data, bool):
        raise _unreadable("int", data)
    if isinstance(hint, type) and isinstance(data, hint):
        return data
    raise _unreadable(str(hint), data)


def _checked(kind: Any, data: Json, make: Callable[[], Any]) -> Any:
    try:
        return make()
    except (TypeError, ValueError, OverflowError) as fault:
        raise _unreadable(str(getattr(kind, "__name__", kind)), data) from fault


def _unreadable(expected: str, data: Json) -> RecordUnreadable:
    return RecordUnreadable(
        f"expected {expected}, found {str(data)[:120]}",
        fix="the record is damaged or was written by another program; restore it from a backup",
    )
