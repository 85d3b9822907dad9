"""A context is a legal choice, whatever is in the memory."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from kernelwright.core.memory_item import MemoryItem, MemoryKind
from kernelwright.core.rollout import Proposal
from kernelwright.core.value import Stage, Value, ValueView
from kernelwright.memory.memory import MemorySettings, ValueDrivenMemory
from kernelwright.memory.retrieve import Retrieval
from kernelwright.testing.samples import a_task

items = st.lists(
    st.builds(
        MemoryItem,
        kind=st.sampled_from(MemoryKind),
        title=st.text(max_size=12),
        body=st.sampled_from(["softmax rows", "matmul tiles", "", "экспонента", "x" * 50]),
        backend=st.sampled_from(["", "cpu"]),
        candidate_id=st.sampled_from(["", "start", "child", "other"]),
        parent_id=st.sampled_from(["", "start"]),
    ),
    max_size=30,
)
hows = st.builds(
    Retrieval,
    context_items=st.integers(0, 6),
    pool_factor=st.floats(1.0, 5.0),
    epsilon=st.floats(0.0, 1.0),
    child_items=st.integers(0, 3),
    api_items=st.integers(0, 3),
)
proposals = st.sampled_from([Proposal(Stage.DRAFT), Proposal(Stage.REFINE, "start")])


@given(known=items, how=hows, proposal=proposals, seed=st.integers(0, 99), luck=st.randoms())
def test_a_context_is_made_of_known_items_each_once_and_within_its_limits(
    known: list[MemoryItem], how: Retrieval, proposal: Proposal, seed: int, luck: random.Random
) -> None:
    known = list({item.item_id: item for item in known}.values())
    values = ValueView(
        {(proposal.stage, item.item_id): Value(luck.uniform(-1, 1), 3) for item in known[::2]}
    )
    memory = ValueDrivenMemory(MemorySettings(retrieval=how))
    contexts = [
        memory.retrieve(a_task(), proposal, items=known, values=values, rng=random.Random(seed))
        for _ in range(2)
    ]
    assert contexts[0] == contexts[1], "equal random states choose equally"
    context = contexts[0]
    identities = [item.item_id for item in context]
    assert set(identities) <= {item.item_id for item in known}
    assert len(set(identities)) == len(identities)
    assert len(context) <= how.context_items + how.child_items + how.api_items
    assert sum(item.kind is MemoryKind.API for item in context) <= how.api_items
