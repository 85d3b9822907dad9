"""What goes into a row or a file comes back, whatever its length and characters."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.core.memory_item import MemoryItem, MemoryKind
from kernelwright.store.blobs import Blobs
from kernelwright.store.texts import INLINE_CHARACTERS, record_of, text_of

any_text = st.text(max_size=30)  # also half characters, which UTF-8 cannot carry
sizes = st.sampled_from([0, 1, INLINE_CHARACTERS // 7, INLINE_CHARACTERS])


@settings(max_examples=60)
@given(title=any_text, body=any_text, times=sizes, schedule=st.dictionaries(any_text, any_text))
def test_an_item_of_any_text_and_length_comes_back(
    title: str, body: str, times: int, schedule: dict[str, str]
) -> None:
    item = MemoryItem(MemoryKind.TRACE, title, body * times, schedule=tuple(schedule.items()))
    with tempfile.TemporaryDirectory() as folder:
        blobs = Blobs(Path(folder))
        text, addresses = text_of(item, blobs.put)
        text.encode("ascii")
        assert record_of(MemoryItem, text, blobs.get) == item
        assert bool(addresses) is (len(item.body) > INLINE_CHARACTERS)


@given(data=st.binary(max_size=200))
def test_bytes_come_back_under_an_address_that_depends_on_them_alone(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        address = Blobs(Path(first)).put(data)
        assert Blobs(Path(second)).put(data) == address
        assert Blobs(Path(first)).get(address) == data
