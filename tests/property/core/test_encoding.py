"""Every record that `core` defines survives being written as JSON and read back."""

from __future__ import annotations

import dataclasses
import importlib
import json
import pkgutil
import types
import typing
from enum import StrEnum
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernelwright.core as core
from kernelwright.core.candidate import Candidate
from kernelwright.core.encode import from_json, to_json
from kernelwright.core.errors import RecordUnreadable
from kernelwright.core.fingerprint import canonical_json
from kernelwright.core.registry import Registry

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)

PATHS = st.from_regex(r"[a-z]{1,4}(/[a-z]{1,4})?\.cpp", fullmatch=True)


def _is_written(kind: type) -> bool:
    # Records with bytes, live objects or open mappings travel otherwise or not at all.
    try:
        return all(_is_plain(hint) for hint in typing.get_type_hints(kind).values())
    except (NameError, TypeError):
        return False


def _is_plain(hint: Any) -> bool:
    if hint in (bool, int, float, str, type(None), Ellipsis):
        return True
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return True
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _is_written(hint)
    if typing.get_origin(hint) in (tuple, types.UnionType, typing.Union):
        return all(map(_is_plain, typing.get_args(hint)))
    return False


def _records() -> list[type]:
    found: list[type] = []
    for module in pkgutil.iter_modules(core.__path__):
        loaded = importlib.import_module(f"kernelwright.core.{module.name}")
        found += [
            kind
            for kind in vars(loaded).values()
            if isinstance(kind, type)
            and dataclasses.is_dataclass(kind)
            and kind.__module__ == loaded.__name__
            and kind is not Registry
            and _is_written(kind)
        ]
    return sorted(found, key=lambda kind: kind.__name__)


RECORDS = _records()


@cache
def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for the values that an annotation allows."""
    simple = {
        bool: st.booleans(),
        int: st.integers(-(2**70), 2**70),
        float: st.floats(allow_nan=False),
        str: TEXTS,
        type(None): st.none(),
    }
    if hint in simple:
        return simple[hint]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return st.sampled_from(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return records_of(hint)
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
        return st.tuples(*map(values_of, arguments))
    return st.one_of(*map(values_of, arguments))


@cache
def records_of(kind: type) -> st.SearchStrategy[Any]:
    """Return a strategy for the records of a class, all fields drawn."""
    hints = typing.get_type_hints(kind)
    fields = {field.name: values_of(hints[field.name]) for field in dataclasses.fields(kind)}
    if kind is Candidate:
        fields["parts"] = st.dictionaries(PATHS, TEXTS, max_size=2).map(
            lambda files: tuple(sorted(files.items()))
        )
    return st.fixed_dictionaries(fields).map(lambda drawn: kind(**drawn))


def test_the_records_that_are_stored_are_among_those_checked() -> None:
    names = {kind.__name__ for kind in RECORDS}
    assert {"Rollout", "Run", "MemoryItem", "Candidate", "Feasible", "Infeasible", "Task"} <= names
    assert {"Artifact", "Budget", "Usage", "Profile", "Value", "Moments", "Workload"} <= names


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
@settings(max_examples=10)
@given(data=st.data())
def test_a_record_comes_back_equal_and_as_the_same_text(kind: type, data: st.DataObject) -> None:
    record = data.draw(records_of(kind))
    text = canonical_json(to_json(record))
    again = from_json(kind, json.loads(text))
    assert again == record
    assert canonical_json(to_json(again)) == text


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
@settings(max_examples=10)
@given(data=st.data())
def test_a_record_with_an_unknown_field_or_another_version_is_refused(
    kind: type, data: st.DataObject
) -> None:
    written = to_json(data.draw(records_of(kind)))
    assert isinstance(written, dict)
    for damage in (
        {"no_such_field": 1},
        {"record_version": 999},
        {"record_version": None},
        {"record": "Another"},
    ):
        with pytest.raises(RecordUnreadable) as caught:
            from_json(kind, {**written, **damage})
        assert caught.value.fix


@given(
    kind=st.sampled_from(RECORDS),
    junk=st.recursive(
        st.none() | st.booleans() | st.integers() | TEXTS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
        max_leaves=6,
    ),
)
def test_junk_is_refused_not_half_read(kind: type, junk: Any) -> None:
    with pytest.raises(RecordUnreadable):
        from_json(kind, junk)


@given(record=st.sampled_from(RECORDS).flatmap(records_of), data=st.data(), junk=TEXTS)
def test_a_field_of_another_type_is_refused_or_read_as_what_it_says(
    record: Any, data: st.DataObject, junk: str
) -> None:
    written = to_json(record)
    assert isinstance(written, dict)
    names = [name for name in written if name not in ("record", "record_version")]
    name = data.draw(st.sampled_from(names))
    try:
        again = from_json(type(record), {**written, name: {"odd": junk}})
    except RecordUnreadable:
        return
    pytest.fail(f"{name} took an object: {again}")
