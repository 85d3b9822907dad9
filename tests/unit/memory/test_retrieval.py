"""What a generator is shown, on memories small enough to see through."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from kernelwright.core.memory_item import MemoryItem, MemoryKind
from kernelwright.core.rollout import Proposal
from kernelwright.core.value import Stage, Value, ValueView
from kernelwright.memory.embed import Vector, hashed
from kernelwright.memory.memory import MemorySettings, ValueDrivenMemory
from kernelwright.memory.retrieve import Retrieval, most_similar, pool_factor, select
from kernelwright.testing.samples import a_task, an_item

DRAFT = Proposal(Stage.DRAFT)
REFINE = Proposal(Stage.REFINE, "start")
GREEDY = Retrieval(context_items=2, pool_growth=1.0, epsilon=0.0)


def shown(
    items: list[MemoryItem],
    *,
    values: ValueView | None = None,
    proposal: Proposal = DRAFT,
    how: Retrieval = GREEDY,
) -> list[str]:
    memory = ValueDrivenMemory(MemorySettings(retrieval=how))
    context = memory.retrieve(
        a_task(), proposal, items=items, values=values or ValueView(), rng=random.Random(0)
    )
    return [item.title for item in context]


def valued(stage: Stage, worth: dict[str, float], items: list[MemoryItem]) -> ValueView:
    known = {item.title: item.item_id for item in items}
    return ValueView({(stage, known[title]): Value(mean, 1) for title, mean in worth.items()})


def trace(title: str, candidate: str, parent: str = "") -> MemoryItem:
    return an_item(title, kind=MemoryKind.TRACE, candidate_id=candidate, parent_id=parent)


# --- the pool ---


def test_what_is_about_the_task_comes_before_what_is_not() -> None:
    about = an_item("torch.softmax over rows", body="softmax of each row: max, exp, sum, divide")
    other = an_item("blocked matmul", body="tile M, N and K; pack B")
    assert most_similar(a_task(), [other, about], count=1, embed=hashed) == [about]


def test_the_pool_is_exact_whatever_the_order_of_the_items() -> None:
    items = [an_item(f"item {at}", body="softmax " * at) for at in range(12)]
    forward = most_similar(a_task(), items, count=5, embed=hashed)
    assert most_similar(a_task(), items[::-1], count=5, embed=hashed) == forward


def test_a_valuable_item_outside_the_pool_is_not_shown() -> None:
    near = [an_item(f"softmax rows {at}") for at in range(4)]
    far = an_item("unrelated", body="quaternion knots")
    values = valued(Stage.DRAFT, {"unrelated": 1.0}, [far])
    assert "unrelated" not in shown([*near, far], values=values)


def test_a_larger_pool_lets_value_find_it() -> None:
    near = [an_item(f"softmax rows {at}") for at in range(4)]
    far = an_item("unrelated", body="quaternion knots")
    values = valued(Stage.DRAFT, {"unrelated": 1.0}, [far])
    how = replace(GREEDY, pool_factor=3.0)
    assert shown([*near, far], values=values, how=how)[0] == "unrelated"


def test_the_pool_grows_with_the_memory_from_lambda_to_its_multiple() -> None:
    how = Retrieval(pool_factor=2.0, pool_growth=15.0, pool_growth_items=100)
    assert pool_factor(how, memory_size=0) == 2.0
    assert pool_factor(how, memory_size=50) == 16.0
    assert pool_factor(how, memory_size=100) == pool_factor(how, memory_size=10_000) == 30.0


# --- the choice ---


def test_the_values_of_the_stage_decide() -> None:
    items = [an_item(f"softmax {name}") for name in "abc"]
    values = ValueView(
        {
            **valued(Stage.DRAFT, {"softmax b": 0.9, "softmax c": 0.5}, items).values,
            **valued(Stage.REFINE, {"softmax a": 0.9, "softmax c": 0.5}, items).values,
        }
    )
    assert shown(items, values=values) == ["softmax b", "softmax c"]
    assert shown(items, values=values, proposal=REFINE) == ["softmax a", "softmax c"]


def test_an_item_that_did_harm_comes_after_one_that_nobody_tried() -> None:
    items = [an_item(f"softmax {name}") for name in "abc"]
    values = valued(Stage.DRAFT, {"softmax a": -0.5, "softmax b": -0.1}, items)
    assert shown(items, values=values) == ["softmax c", "softmax b"]


def test_without_values_the_most_similar_come_first() -> None:
    items = [an_item("softmax", body="softmax rows"), an_item("other", body="knots")]
    assert shown(items) == ["softmax", "other"]


def test_epsilon_is_the_share_of_random_places() -> None:
    pool = [an_item(str(at)) for at in range(10)]
    values = ValueView({(Stage.DRAFT, pool[9].item_id): Value(1.0, 1)})
    rng = random.Random(1)
    firsts = [
        select(pool, Stage.DRAFT, values=values, count=1, epsilon=0.3, rng=rng)[0]
        for _ in range(3000)
    ]
    # Greedy with 0.7, and by chance with 0.3 / 10.
    assert firsts.count(pool[9]) / 3000 == pytest.approx(0.73, abs=0.03)
    assert firsts.count(pool[0]) / 3000 == pytest.approx(0.03, abs=0.012)


def test_a_small_memory_is_shown_whole() -> None:
    assert sorted(shown([an_item("a")], how=Retrieval())) == ["a"]
    assert shown([]) == []


# --- traces, children, cards ---


def test_of_two_traces_of_one_candidate_the_latest_speaks() -> None:
    items = [trace("softmax, before", "c1"), trace("softmax, after", "c1")]
    assert shown(items) == ["softmax, after"]


def test_a_refinement_shows_what_came_of_earlier_ones_of_its_start_point() -> None:
    items = [
        trace("child 1", "c1", "start"),
        trace("child 2", "c2", "start"),
        trace("child 3", "c3", "start"),
        trace("stranger", "c4", "elsewhere"),
    ]
    values = valued(Stage.REFINE, {"child 1": 0.4}, items)
    how = Retrieval(context_items=0, child_items=2, epsilon=0.0)
    # The most valued child, then the latest.
    assert shown(items, values=values, proposal=REFINE, how=how) == ["child 1", "child 3"]
    assert shown(items, values=values, proposal=DRAFT, how=how) == []


def test_a_child_is_not_shown_twice() -> None:
    items = [trace("child", "c1", "start"), trace("other", "c2")]
    assert sorted(shown(items, proposal=REFINE)) == ["child", "other"]


def test_the_start_point_is_not_shown_to_itself() -> None:
    items = [trace("itself", "start"), trace("other", "c2")]
    assert shown(items, proposal=REFINE) == ["other"]


def test_api_cards_are_chosen_by_similarity_beside_the_valued_items() -> None:
    cards = [
        an_item("exp", kind=MemoryKind.API, body="softmax rows exp"),
        an_item("knot", kind=MemoryKind.API, body="quaternion"),
    ]
    values = valued(Stage.DRAFT, {"knot": 1.0}, cards)
    practice = an_item("practice")
    how = replace(GREEDY, api_items=1)
    assert shown([*cards, practice], values=values, how=how) == ["practice", "exp"]


# --- vectors ---


def test_a_vector_has_length_one_and_is_the_same_each_time() -> None:
    vector = hashed("softmax_kernel computes rowMax")
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)
    assert np.array_equal(vector, hashed("softmax_kernel computes rowMax"))


def test_identifiers_are_seen_by_their_parts() -> None:
    query = hashed("layer norm")
    assert float(query @ hashed("LayerNormKernel")) > 0.5
    assert float(query @ hashed("layer_norm_kernel")) > 0.5
    assert abs(float(query @ hashed("blocked matmul"))) < 0.3


@pytest.mark.parametrize("text", ["", "1 + 2 = 3", "汉字"])
def test_a_text_without_words_is_near_nothing(text: str) -> None:
    assert float(np.linalg.norm(hashed(text))) == 0.0


def test_another_embedding_goes_in_through_one_function() -> None:
    def by_meaning(text: str) -> Vector:
        is_close = "softmax" in text or "normalised exponential" in text
        return np.array([1.0, 0.0] if is_close else [0.0, 1.0], dtype=np.float32)

    items = [an_item("knots", body=""), an_item("normalised exponential", body="")]
    how = replace(GREEDY, context_items=1, pool_factor=1.0)
    memory = ValueDrivenMemory(MemorySettings(retrieval=how), embed=by_meaning)
    context = memory.retrieve(
        a_task(), DRAFT, items=items, values=ValueView(), rng=random.Random(0)
    )
    assert [item.title for item in context] == ["normalised exponential"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"context_items": -1},
        {"child_items": -1},
        {"api_items": -1},
        {"pool_factor": 0.5},
        {"pool_growth": 0.5},
        {"pool_growth_items": 0},
        {"epsilon": 1.5},
        {"epsilon": -0.1},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must|cannot"):
        Retrieval(**wrong)  # type: ignore[arg-type]
