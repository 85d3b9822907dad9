"""Matmul tiling and the layout of tiling data: what the kernel can rely on."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
#include <cstdio>
#include "register/op_def_registry.h"
#include "tiling/tiling_api.h"
using namespace matmul_tiling;

static void product(int m, int n, int k, int cores, int baseM, int baseN, DataType type) {
  platform_ascendc::PlatformAscendC chip(nullptr);
  MultiCoreMatmulTiling tiling(chip);
  tiling.SetDim(cores);
  tiling.SetAType(TPosition::GM, CubeFormat::ND, type);
  tiling.SetBType(TPosition::GM, CubeFormat::ND, type, true);
  tiling.SetCType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
  tiling.SetShape(m, n, k);
  tiling.SetOrgShape(m, n, k);
  tiling.SetBias(true);
  tiling.SetFixSplit(baseM, baseN, -1);
  tiling.SetBufferSpace(-1, -1, -1);
  optiling::TCubeTiling data;
  long status = tiling.GetTiling(data);
  printf("%s{\\"status\\": %ld, \\"m\\": %d, \\"n\\": %d, \\"k\\": %d, \\"cores\\": %d, "
         "\\"bytes\\": %d, \\"tiling\\": %s}", m == 0 ? "" : ",", status, m, n, k, cores,
         type == DataType::DT_FLOAT ? 4 : 2, data.json().c_str());
}

int main() {
  printf("[");
  product(0, 16, 16, 1, -1, -1, DataType::DT_FLOAT);
  product(512, 512, 64, 1, 512, 256, DataType::DT_FLOAT);
  const int sizes[] = {1, 15, 128, 1000, 4096};
  for (int m : sizes) for (int n : sizes) for (int k : sizes) for (int cores : {1, 2, 20, 48}) {
    product(m, n, k, cores, -1, -1, DataType::DT_FLOAT);
    product(m, n, k, cores, 128, 128, DataType::DT_FLOAT16);
  }
  printf("]");
}
"""

LAYOUT = """
BEGIN_TILING_DATA_DEF(Inner)
  TILING_DATA_FIELD_DEF(uint8_t, first);
  TILING_DATA_FIELD_DEF(int64_t, wide);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(InnerOp, Inner)
BEGIN_TILING_DATA_DEF(Outer)
  TILING_DATA_FIELD_DEF(uint8_t, flag);
  TILING_DATA_FIELD_DEF(float, scale);
  TILING_DATA_FIELD_DEF_ARR(uint16_t, 5, sizes);
  TILING_DATA_FIELD_DEF_STRUCT(Inner, inner);
  TILING_DATA_FIELD_DEF(bool, last);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(OuterOp, Outer)
"""

WRITES = f"""
#include <cstdio>
#include "register/tilingdata_base.h"
{LAYOUT}
int main() {{
  Outer data;
  const uint16_t sizes[] = {{1, 2, 3, 4, 5}};
  data.set_flag(7), data.set_scale(1.5f), data.set_sizes(sizes), data.set_last(true);
  data.inner.set_first(9), data.inner.set_wide(-3);
  Outer copy = data;
  unsigned char buffer[256] = {{}};
  copy.SaveToBuffer(buffer, sizeof buffer);
  fwrite(buffer, 1, copy.GetDataSize(), stdout);
}}
"""

READS = f"""
#define KW_KERNEL_SIDE
#include <cstdio>
#include "register/tilingdata_base.h"
{LAYOUT}
int main() {{
  Outer data;
  size_t got = fread(&data, 1, sizeof data + 1, stdin);
  printf("%d %d %g %d %d %d %lld %d", got == sizeof data, data.flag, data.scale, data.sizes[0],
         data.sizes[4], data.inner.first, (long long)data.inner.wide, data.last);
}}
"""


def program(folder: Path, name: str, text: str, toolbox: Any, *, is_host: bool = True) -> Path:
    made = folder / name
    made.with_suffix(".cpp").write_text(text)
    argv = ["g++", "-std=c++17", f"-I{toolbox.include}", str(made.with_suffix(".cpp"))]
    library = [str(toolbox.library), f"-Wl,-rpath,{toolbox.library.parent}"] if is_host else []
    done = subprocess.run([*argv, *library, "-o", str(made)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return made


def test_the_kernel_reads_what_the_host_wrote_wherever_alignment_puts_it(
    toolbox: Any, tmp_path: Path
) -> None:
    written = subprocess.check_output([program(tmp_path, "writes", WRITES, toolbox)])
    reads = program(tmp_path, "reads", READS, toolbox, is_host=False)
    assert subprocess.check_output([reads], input=written).decode() == "1 7 1.5 1 5 9 -3 1"


@pytest.fixture(scope="module")
def products(toolbox: Any, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    made = program(tmp_path_factory.mktemp("tiling"), "tiling", PROGRAM, toolbox)
    answer: list[dict[str, Any]] = json.loads(subprocess.check_output([made]))
    return answer


def test_what_cannot_be_tiled_is_refused(products: list[dict[str, Any]]) -> None:
    assert [product["status"] for product in products[:2]] == [-1, -1]


def test_every_piece_fits_its_memory(products: list[dict[str, Any]]) -> None:
    for product in products[2:]:
        t, size = product["tiling"], product["bytes"]
        assert product["status"] == 0
        assert t["baseM"] * t["baseN"] * 4 * t["dbL0C"] <= 131072
        assert t["baseM"] * t["baseK"] * size * t["dbL0A"] <= 65536
        assert t["baseN"] * t["baseK"] * size * t["dbL0B"] <= 65536
        l1 = t["depthA1"] * t["baseM"] * t["baseK"] + t["depthB1"] * t["baseN"] * t["baseK"]
        assert l1 * size + 4 * t["baseN"] <= 524288


def test_the_cores_pieces_cover_the_product(products: list[dict[str, Any]]) -> None:
    for product in products[2:]:
        t = product["tiling"]
        parts = -(-product["m"] // t["singleCoreM"]) * -(-product["n"] // t["singleCoreN"])
        assert parts == t["usedCoreNum"] <= product["cores"]
        assert (t["M"], t["N"], t["Ka"]) == (product["m"], product["n"], product["k"])
        assert t["isBias"] == 1
