"""Tensor trees cross a process boundary unchanged, and nothing malformed is let through."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.core.tensor import (
    ITEM_BYTES,
    MalformedTree,
    Opaque,
    Tensor,
    decoded,
    encoded,
    leaves,
)


@st.composite
def tensors(draw: st.DrawFn) -> Tensor:
    dtype = draw(st.sampled_from(sorted(ITEM_BYTES)))
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    size = math.prod(shape) * ITEM_BYTES[dtype]
    strides = draw(st.none() | st.just(tuple(range(len(shape), 0, -1))))
    return Tensor(dtype, shape, draw(st.binary(min_size=size, max_size=size)), strides)


scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
)
trees = st.recursive(
    tensors() | scalars | st.builds(Opaque, st.text(max_size=5)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
junk = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=5,
)


@given(tree=trees)
def test_a_tree_comes_back_equal_with_its_types(tree: Any) -> None:
    skeleton, blobs = encoded(tree)
    again = decoded(json.loads(json.dumps(skeleton)), blobs)
    assert again == tree
    assert [type(leaf) for _, leaf in leaves(again)] == [type(leaf) for _, leaf in leaves(tree)]


@pytest.mark.parametrize("bits", ["nan", "inf", "-inf", "-0.0", "5e-324"])
def test_odd_floats_come_back_as_they_were(bits: str) -> None:
    skeleton, blobs = encoded(float(bits))
    again = decoded(json.loads(json.dumps(skeleton, allow_nan=False)), blobs)
    assert isinstance(again, float)
    assert str(again) == str(float(bits))


@given(skeleton=junk, blobs=st.lists(st.binary(max_size=8), max_size=2))
def test_junk_never_becomes_a_tree_nor_another_error(skeleton: Any, blobs: list[bytes]) -> None:
    with pytest.raises(MalformedTree):
        decoded(skeleton, blobs)


@given(tensor=tensors(), key=st.sampled_from(["dtype", "shape", "strides", "blob"]), bad=junk)
def test_a_tampered_tensor_is_refused_or_still_describes_its_bytes(
    tensor: Tensor, key: str, bad: Any
) -> None:
    skeleton, blobs = encoded(tensor)
    try:
        again = decoded({**skeleton, key: bad}, blobs)
    except MalformedTree:
        return
    assert isinstance(again, Tensor)
    assert again.dtype in ITEM_BYTES
    assert all(type(extent) is int and extent >= 0 for extent in again.shape)
    assert len(again.data) == again.size_bytes
    assert again.strides is None or len(again.strides) == len(again.shape)


@given(tensor=tensors(), cut=st.integers(1, 8))
def test_a_short_or_long_blob_is_refused(tensor: Tensor, cut: int) -> None:
    skeleton, _ = encoded(tensor)
    data = bytes(tensor.data)
    for wrong in (data + b"x" * cut, data[:-cut] if len(data) >= cut else data + b"y"):
        with pytest.raises(MalformedTree):
            decoded(skeleton, [wrong])


@pytest.mark.parametrize(
    "skeleton",
    [
        {"kind": "tensor", "dtype": "float32", "shape": [-1], "strides": None, "blob": 0},
        {"kind": "tensor", "dtype": "float32", "shape": [True], "strides": None, "blob": 0},
        {"kind": "tensor", "dtype": "float32", "shape": [1], "strides": [1, 1], "blob": 0},
        {"kind": "tensor", "dtype": "float32", "shape": [1], "strides": None, "blob": 1},
        {"kind": "tensor", "dtype": "float32", "shape": [1], "strides": None, "blob": -1},
        {"kind": "tensor", "dtype": "float32", "shape": [1], "strides": None, "blob": True},
        {"kind": "tensor", "dtype": "object", "shape": [1], "strides": None, "blob": 0},
        {"kind": "tensor", "dtype": ["float32"], "shape": [1], "strides": None, "blob": 0},
        {"kind": "tensor", "dtype": "float32", "shape": "1", "strides": None, "blob": 0},
        {"kind": "dict", "keys": ["a"], "items": []},
        {"kind": "dict", "keys": ["a", "a"], "items": [{"kind": "tuple", "items": []}] * 2},
        {"kind": "tuple", "items": "ab"},
        {"kind": ["tuple"], "items": []},
        {"kind": "dict", "keys": [1], "items": [{"kind": "tuple", "items": []}]},
        {"kind": "opaque", "type": None},
        {"kind": "tensor", "dtype": "float32", "shape": [1], "strides": [-1], "blob": 0},
        {"kind": "tensor", "dtype": "float32", "shape": [1] * 65, "strides": None, "blob": 0},
        {"kind": "tensor", "dtype": "float32", "shape": [2**70], "strides": None, "blob": 0},
        {"kind": "scalar", "type": "float", "value": "ten"},
        {"kind": "scalar", "type": "float", "value": 1.0},
        {"kind": "scalar", "type": "int", "value": True},
        {"kind": "scalar", "type": "int", "value": 1.0},
        {"kind": "scalar", "type": "bool", "value": 1},
        {"kind": "scalar", "type": "NoneType", "value": 0},
        {"kind": "scalar", "type": "complex", "value": "1j"},
        {"kind": "pickle", "value": ""},
    ],
)
def test_each_malformed_node_is_refused(skeleton: Any) -> None:
    with pytest.raises(MalformedTree):
        decoded(skeleton, [b"\0\0\0\0"])


def test_a_shape_without_elements_cannot_hide_an_extent_that_no_array_has() -> None:
    node = {"kind": "tensor", "dtype": "int8", "shape": [0, 2**63], "strides": None, "blob": 0}
    with pytest.raises(MalformedTree):
        decoded(node, [b""])


@pytest.mark.parametrize("depth", [65, 400, 20_000])
def test_a_tree_that_is_too_deep_is_refused_before_the_stack_is(depth: int) -> None:
    node: dict[str, Any] = {"kind": "tuple", "items": []}
    for _ in range(depth):
        node = {"kind": "tuple", "items": [node]}
    with pytest.raises(MalformedTree, match="levels deep"):
        decoded(node, [])


def test_a_tree_of_any_sensible_depth_is_accepted() -> None:
    tree: Any = 1
    for _ in range(64):
        tree = [tree]
    assert decoded(*encoded(tree)) == tree
