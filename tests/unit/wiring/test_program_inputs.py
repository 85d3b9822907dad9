"""Inputs of a kernel program: what an item means, what is drawn, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright.core.errors import UsageMistake
from kernelwright.dsl import Host, check_source
from kernelwright.dsl.interpret import from_bf16, to_bf16
from kernelwright.wiring.program_inputs import arguments_of
from kernelwright.wiring.programs import settings_of

PROGRAM = """import kernelwright.language as tl


@tl.kernel
def k(x: "DTYPE[R, C]", g: "f32[C]", y: "DTYPE[R, C]", TILE: tl.const):
    x_ub = tl.ub(TILE, "DTYPE")
    y_ub = tl.ub(TILE, "DTYPE")
    g_ub = tl.ub(TILE, "f32")
    h_ub = tl.ub(TILE, "f32")
    for r in tl.core_range(R):
        for c, n in tl.tiles(C, TILE):
            with tl.copyin():
                tl.load(x_ub, x[r, c:c + n])
                tl.load(g_ub, g[c:c + n])
            with tl.compute():
                tl.copy(h_ub, g_ub)
                tl.copy(y_ub, x_ub)
            with tl.copyout():
                tl.store(y[r, c:c + n], y_ub)


@tl.host
def f(
    x: "DTYPE[R, C]", g: "f32[C]", K: tl.const = 3, eps: tl.f32 = 0.5, times: tl.i64 = 2
) -> "DTYPE[R, C]":
    y = tl.empty("DTYPE[R, C]")
    TILE = tl.param("TILE", default=256, multiple_of=64)
    k[tl.min(tl.num_cores(), R)](x, g, y, TILE=TILE)
    return y
"""


def host(dtype: str = "f32") -> Host:
    result = check_source(PROGRAM.replace("DTYPE", dtype))
    assert result.program is not None, result.to_text()
    return result.program.hosts[0]


def given(*items: str, dtype: str = "f32", seed: int = 0) -> dict[str, Any]:
    found = arguments_of(host(dtype), items, consts={"K": 3}, seed=seed)
    return {item.name: item.value for item in found}


def test_sizes_alone_draw_every_tensor_of_them() -> None:
    values = given("R=3,C=70")
    assert values["x"].shape == (3, 70)
    assert values["g"].shape == (70,)
    assert values["x"].dtype == np.float32
    assert (values["eps"], values["times"]) == (0.5, 2)
    assert "K" not in values


def test_a_shape_of_one_tensor_gives_the_sizes_of_the_others() -> None:
    values = given("x=5x9:f32:uniform:2:3", "eps=1e-3, times=7")
    assert values["g"].shape == (9,)
    assert 2 <= values["x"].min() <= values["x"].max() <= 3
    assert (values["eps"], values["times"]) == (1e-3, 7)


def test_a_draw_depends_on_the_seed_and_the_name_only() -> None:
    one, other = given("R=3,C=70"), given("x=3x70,g=70:uniform")
    assert np.array_equal(one["x"], other["x"])
    assert not np.array_equal(one["g"], other["g"])
    assert not np.array_equal(one["x"], given("R=3,C=70", seed=1)["x"])


@pytest.mark.parametrize(
    ("dtype", "kind"), [("f16", "float16"), ("i32", "int32"), ("u8", "uint8"), ("bool", "uint8")]
)
def test_a_tensor_is_drawn_in_the_programs_element_type(dtype: str, kind: str) -> None:
    x = given("R=20,C=8", dtype=dtype)["x"]
    assert x.dtype == kind
    if dtype == "bool":
        assert set(np.unique(x)) == {0, 1}


def test_bf16_is_drawn_as_bits_of_numbers() -> None:
    x = given("R=4,C=500", dtype="bf16")["x"]
    assert x.dtype == np.uint16
    assert abs(float(from_bf16(x).mean())) < 0.1
    assert 0.9 < float(from_bf16(x).std()) < 1.1


def test_special_values_are_all_there() -> None:
    x = given("x=40x100:special")["x"]
    assert np.isnan(x).any()
    assert np.isposinf(x).any()
    assert np.isneginf(x).any()
    assert (np.signbit(x) & (x == 0)).any()
    assert ((x != 0) & (abs(x) < np.finfo(np.float32).tiny)).any()


# --- files ---------------------------------------------------------------------------------------


def test_arrays_come_from_a_file_by_the_parameters_names(tmp_path: Path) -> None:
    x, g = np.ones((2, 5), np.float32), np.arange(5, dtype=np.float32)
    np.savez(tmp_path / "all.npz", x=x, g=g, eps=np.float32(0.25))
    values = given(str(tmp_path / "all.npz"))
    assert np.array_equal(values["x"], x)
    assert np.array_equal(values["g"], g)
    assert values["eps"] == 0.25


def test_one_array_and_drawn_ones_mix(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.asfortranarray(np.arange(10, dtype=np.float32).reshape(2, 5)))
    values = given(f"x={tmp_path / 'x.npy'}", "g=:ones")
    assert values["x"][1, 0] == 5
    assert np.array_equal(values["g"], np.ones(5))


def test_nothing_is_converted_unasked(tmp_path: Path) -> None:
    file = tmp_path / "x.npy"
    np.save(file, np.full((2, 5), 1 / 3))
    with pytest.raises(UsageMistake, match="float64") as caught:
        given(f"x={file}")
    assert f"x={file}:f32" in caught.value.fix
    assert given(f"x={file}:f32")["x"].dtype == np.float32


def test_bf16_comes_as_bits_or_as_numbers_that_it_holds(tmp_path: Path) -> None:
    file, bits = tmp_path / "x.npy", to_bf16(np.linspace(-3, 3, 10, dtype=np.float32).reshape(2, 5))
    for saved in (bits, from_bf16(bits)):
        np.save(file, saved)
        assert np.array_equal(given(f"x={file}", dtype="bf16")["x"], bits)
    np.save(file, np.full((2, 5), 1 / 3, np.float32))
    with pytest.raises(UsageMistake, match="which is bf16"):
        given(f"x={file}", dtype="bf16")
    assert from_bf16(given(f"x={file}:bf16", dtype="bf16")["x"])[0, 0] == np.float32(0.333984375)


def test_a_file_with_code_in_it_is_not_read(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([print], dtype=object), allow_pickle=True)
    with pytest.raises(UsageMistake, match="not usable"):
        given(f"x={tmp_path / 'x.npy'}")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04broken", b"\x93NUMPY\x01\x00"])
def test_a_damaged_file_is_the_users_mistake(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(UsageMistake):
        given(f"x={tmp_path / 'x.npz'}")


# --- refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "what", "fix"),
    [
        ("", "shape of x", "x=4x12"),
        ("R=3", "shape of x", "C=8"),
        ("x=3x4,C=5", "C is 5 and 4", "sizes that agree"),
        ("x=3x4,g=5", "C is 4 and 5", "sizes that agree"),
        ("x=3x4:f16", "x is f32 in the program", "write f32"),
        ("x=3x4:bell", "'bell'", "normal, uniform"),
        ("x=3x4:uniform:1:0", "nothing lies between", "uniform takes"),
        ("x=3x4:zeros:1", "zeros:1", "no numbers"),
        ("z=3x4", "no input 'z'", "x, g, K, eps, times, R, C"),
        ("R=3,C=4,K=5", "compile-time", "--set K=5"),
        ("R=3,C=4,eps=half", "eps cannot be 'half'", "a number"),
        ("R=3,C=4,times=1.5", "times cannot be '1.5'", "an integer"),
        ("R=3,C=-4", "shape 3x-4", "larger"),
        ("x=missing.npy", "missing.npy cannot be read", "numpy"),
        ("three", "neither a file nor", "NAME=FILE.npy"),
        ("R=1000000000,C=1000000000000", "cannot be made", "less"),
    ],
)
def test_a_mistake_says_what_to_write(items: str, what: str, fix: str) -> None:
    with pytest.raises(UsageMistake) as caught:
        given(items)
    assert what in caught.value.what
    assert fix in caught.value.fix


def test_holes_and_compile_time_parameters_are_set_by_name() -> None:
    assert settings_of(host(), ["TILE=512,K=4"]) == ({"TILE": 512}, {"K": 4})
    assert settings_of(host(), []) == ({}, {"K": 3})
    with pytest.raises(UsageMistake, match="'TILES'") as caught:
        settings_of(host(), ["TILES=512"])
    assert "TILE (default 256)" in caught.value.fix
    with pytest.raises(UsageMistake, match="TILE cannot be 'big'"):
        settings_of(host(), ["TILE=big"])
