"""Identity by content: equal content, equal identity, on every machine."""

from __future__ import annotations

import pytest

from kernelwright.core.candidate import Candidate
from kernelwright.core.fingerprint import canonical_json, fingerprint, fingerprint_bytes
from kernelwright.core.memory_item import MemoryItem, MemoryKind
from kernelwright.core.task import Task


def test_the_order_of_keys_does_not_matter_and_that_of_lists_does() -> None:
    assert fingerprint({"a": 1, "b": [1, 2]}) == fingerprint({"b": [1, 2], "a": 1})
    assert fingerprint([1, 2]) != fingerprint([2, 1])


def test_a_fingerprint_is_the_beginning_of_the_sha256_of_the_canonical_text() -> None:
    assert canonical_json({"b": "Ω", "a": [1, None]}) == '{"a":[1,null],"b":"Ω"}'
    assert fingerprint_bytes(b"abc", length=64) == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    assert fingerprint(["abc"], length=8) == fingerprint_bytes(b'["abc"]', length=64)[:8]


def test_types_are_told_apart() -> None:
    assert len({fingerprint(value) for value in (1, "1", True, None, [1], 1.5)}) == 6


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_numbers_that_json_lacks_are_refused(odd: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant|Out of range"):
        canonical_json([odd])


def test_a_candidate_is_its_backend_and_its_parts_not_its_origin() -> None:
    one = Candidate.of("cpu", {"b": "2", "a": "1"}, origin="offline", schedule={"tile": "8"})
    same = Candidate.of("cpu", {"a": "1", "b": "2"}, origin="user", parent="p")
    assert one.candidate_id == same.candidate_id
    assert one.candidate_id != Candidate.of("cuda", {"a": "1", "b": "2"}).candidate_id
    assert one.candidate_id != Candidate.of("cpu", {"a": "12", "b": ""}).candidate_id


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../up", "a/../../up", "a\\b"])
def test_a_part_cannot_lie_outside_its_folder(path: str) -> None:
    with pytest.raises(ValueError, match="relative path"):
        Candidate.of("cpu", {path: "x"})


def test_a_task_is_its_source_wherever_it_lies() -> None:
    one, same = Task("a", "source", "here.py"), Task("b", "source", "there.py", suite="s")
    assert one.task_id == same.task_id
    assert one.task_id != Task("a", "other source", "here.py").task_id


def test_an_item_is_its_content_not_where_it_was_learned() -> None:
    one = MemoryItem(MemoryKind.EXPERIENCE, "t", "b", "cpu", task_id="x", rollout_id="y")
    assert one.item_id == MemoryItem(MemoryKind.EXPERIENCE, "t", "b", "cpu").item_id
    for other in (
        MemoryItem(MemoryKind.PRACTICE, "t", "b", "cpu"),
        MemoryItem(MemoryKind.EXPERIENCE, "t", "b", "cuda"),
        MemoryItem(MemoryKind.EXPERIENCE, "tb", "", "cpu"),
        MemoryItem(MemoryKind.EXPERIENCE, "t", "b", "cpu", candidate_id="c"),
    ):
        assert other.item_id != one.item_id
