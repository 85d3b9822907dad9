"""Run the public Ascend C operators of LLM4AscendC in the emulator and compare with PyTorch.

    python benchmarks/ascendc_public_projects.py CLONE WORK [--inputs official|signed] [NAME ...]

CLONE is your clone of CenZhihan/LLM4AscendC at commit 98e412e5, WORK a folder for builds and for
results.jsonl. Needs g++ and torch. One operator runs at a time in a child of its own.

Sizes: the leading size of the reference is lowered where the project accepts that, else the
official shape is used. A launch that takes too long is cut off; what it had written by then is
compared. Tensors beyond `PART` elements repeat
the random numbers of their first part, beyond `DENSE` elements the rest is zero.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from kernelwright.emulator import build
from kernelwright.emulator.binding_host import session_of
from kernelwright.emulator.chip_facts import host_facts
from kernelwright.emulator.library import Runtime, runtime
from kernelwright.emulator.project import ProjectFault, load_project
from kernelwright.emulator.report import Lines, faults_from
from kernelwright.emulator.run_host import load_model
from kernelwright.emulator.targets import load_chip

LIST = "generator/kernelbench102_ops.py"
PROJECTS = "output/kernelbench165_txt"
REFERENCES = "vendor/mkb/reference"
DENSE = 300_000_000
FILLED = 16 << 20
PART = 4 << 20
SMALL = 8_000_000
"""Elements of all inputs together, beyond which the leading size is lowered."""
ADDRESS_SPACE = 22 << 30
FIRST = 4
"""Items of a batch that are compared after a cut."""
PATIENCE_S = 150
CUT = "was cut off here"
_LEADING = re.compile(r"^(batch_size|M|N|batch)(\s*=\s*)([\d *]+?)\s*(#.*)?$", re.M)
_LITERAL = re.compile(r"(torch\.randn?\()(\d+)(, )")
_REFUSALS = (RuntimeError, ValueError, TypeError, AssertionError)


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference file with its leading size divided.

    Attributes:
        text: Its Python.
        note: What was changed; empty for the official sizes.
    """

    text: str
    note: str


@dataclass(frozen=True, slots=True)
class Trial:
    """What a child does.

    Attributes:
        folder: Where the project is built.
        reference: Its reference file.
        is_signed: Normal instead of uniform random numbers.
        limit_s: Processor seconds a launch may take.
    """

    folder: Path
    reference: Path
    is_signed: bool
    limit_s: int


def main(arguments: list[str]) -> int:
    """Run every named operator, or one as a child."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--inputs", nargs="+", default=["official", "signed"])
    parser.add_argument("--limit", type=int, default=25, help="processor seconds a launch")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.child:
        is_signed = chosen.inputs == ["signed"]
        told = run_trial(Trial(chosen.work, chosen.clone, is_signed, chosen.limit))
        sys.stdout.write("\nRESULT " + json.dumps(told) + "\n")
        return 0
    work = chosen.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    tools = runtime(work / "cache")
    with (work / "results.jsonl").open("a", encoding="utf-8") as log:
        for name in chosen.names or operator_names(chosen.clone):
            for inputs in chosen.inputs:
                told = {"operator": name, "inputs": inputs}
                told |= try_one(chosen, name, inputs, tools)
                log.write(json.dumps(told) + "\n")
                log.flush()
                sys.stdout.write(sentence(told) + "\n")
                sys.stdout.flush()
    return 0


def operator_names(clone: Path) -> list[str]:
    """Return the names of the operators that passed on the device, as the clone lists them."""
    tree = ast.parse((clone / LIST).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Tuple):
            return [str(ast.literal_eval(item)) for item in node.value.elts]
    raise ValueError(f"{LIST} lists no operators")


def try_one(chosen: argparse.Namespace, name: str, inputs: str, tools: Runtime) -> dict[str, Any]:
    """Build an operator and run it in a child; return what happened."""
    project = load_project(chosen.clone / PROJECTS / f"{name}.txt")
    reference = next((chosen.clone / REFERENCES).rglob(f"{name}.py"), None)
    if isinstance(project, ProjectFault):
        return {"state": "not read", "why": project.reason}
    if reference is None:
        return {"state": "no reference"}
    folder = chosen.work.resolve() / "built" / name
    told: dict[str, Any] = {}
    if not is_built(folder, tools):
        folder.mkdir(parents=True, exist_ok=True)
        start = time.monotonic()
        facts = host_facts(load_chip("910B2"))
        built = build.build(project, folder, tools, command, platform=facts)
        told = {"build_s": round(time.monotonic() - start, 1)}
        if isinstance(built, build.BuildFault):
            errors = [line for line in built.log.splitlines() if "error" in line]
            return told | {"state": "not built", "why": f"{built.part}: " + " | ".join(errors[:5])}
    argv = [
        sys.executable, str(Path(__file__).resolve()), str(reference), str(folder),
        "--inputs", inputs, "--limit", str(chosen.limit), "--child",
    ]  # fmt: skip
    try:
        child = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        return told | {"state": "too slow", "why": f"{PATIENCE_S} s"}
    results = [line[7:] for line in child.stdout.splitlines() if line.startswith("RESULT ")]
    if not results:
        return told | {"state": "died", "why": f"{child.returncode}: {child.stderr[-400:]}"}
    return told | json.loads(results[-1])


def is_built(folder: Path, tools: Runtime) -> bool:
    """Say whether an earlier run built this project with the same runtime."""
    manifest = folder / build.MANIFEST
    if not manifest.exists():
        return False
    known = json.loads(manifest.read_text(encoding="utf-8"))
    return bool(known["runtime"] == str(tools.library))


def command(argv: Any, folder: Path) -> build.Said:
    """Run a compiler."""
    environment = {**os.environ, "PYTHONPATH": str(Path(build.__file__).parents[2])}
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, env=environment)
    return build.Said(done.returncode, done.stdout, done.stderr)


def sentence(told: Mapping[str, Any]) -> str:
    """One line about a result."""
    faults = sorted({f"{fault['severity'][0]}:{fault['code']}" for fault in told.get("faults", [])})
    shown = ("note", "cut", "compared", "wrong", "max_abs", "scale", "run_s", "why")
    rest = [f"{key}={told[key]}" for key in shown if told.get(key) not in (None, "")]
    return " ".join([told["operator"], told["state"].upper(), *rest, *faults])


def run_trial(trial: Trial) -> dict[str, Any]:
    """Run one built project against its reference."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    torch.set_grad_enabled(False)
    text = trial.reference.read_text(encoding="utf-8")
    session = session_of(trial.folder)
    session.runtime.kw_restrict(0, 0, 1000 * trial.limit_s)
    refusal = ""
    for reference in (lowered(text), Reference(text, "")):
        namespace: dict[str, Any] = {"__name__": "reference"}
        exec(compile(reference.text, str(trial.reference), "exec"), namespace)
        try:
            told = compare(trial, namespace, session)
        except _REFUSALS as error:
            refusal = f"{type(error).__name__}: {error}"[:600]
            if reference.text == text:
                break
            continue
        return told | {"note": reference.note}
    return {"state": "refused", "why": refusal, "faults": faults_of(session.reports())}


def lowered(text: str) -> Reference:
    """Divide the leading size until the inputs are small."""
    divided, note = text, ""
    size_now = elements(text)
    while size_now > SMALL:
        named, literal = _LEADING.search(divided), _LITERAL.search(divided)
        found = named or literal
        if found is None:
            break
        size = math.prod(int(part) for part in found.group(3 if named else 2).split("*"))
        if size % 2 or size <= 1:
            break
        first, last = found.group(1), found.group(2 if named else 3)
        new = f"{first}{last}{size // 2}" if named else f"{first}{size // 2}{last}"
        smaller = divided[: found.start()] + new + divided[found.end() :]
        size_before, size_now = size_now, elements(smaller)
        if size_now > 0.7 * size_before:
            break  # what is large has other sizes
        divided = smaller
        note = f"{first.strip()}={size // 2}" if named else f"first size {size // 2}"
    return Reference(divided, note)


def elements(text: str) -> int:
    """Count the elements of a reference's inputs without making them."""
    namespace: dict[str, Any] = {"__name__": "reference"}
    exec(compile(text, "reference", "exec"), namespace)
    with torch.device("meta"):
        inputs = namespace["get_inputs"]()
    return sum(item.numel() for item in inputs if isinstance(item, torch.Tensor))


def compare(trial: Trial, namespace: dict[str, Any], session: Any) -> dict[str, Any]:
    """Run model and reference on the same inputs; compare what was written."""
    torch.default_generator.manual_seed(0)
    init = namespace["get_init_inputs"]()
    with random_numbers(trial.is_signed):
        inputs = namespace["get_inputs"]()
    torch.default_generator.manual_seed(1)
    model = namespace["Model"](*init).eval()
    torch.default_generator.manual_seed(1)
    candidate = load_model(trial.folder)(*init)
    if isinstance(candidate, torch.nn.Module):
        candidate.load_state_dict(model.state_dict(), strict=False)
    session.forget()
    start = time.monotonic()
    got = candidate(*inputs)
    told: dict[str, Any] = {"run_s": round(time.monotonic() - start, 1)}
    reports = session.reports()
    told["faults"] = faults_of(reports)
    told["cut"] = any(CUT in fault["message"] for fault in told["faults"])
    told["faults"] = [fault for fault in told["faults"] if CUT not in fault["message"]]
    launches = [report.get("launch") or {} for report in reports]
    told["launches"] = [
        {"blocks": one.get("blocks"), "us": one.get("timing", {}).get("duration_us")}
        for one in launches
    ]
    want, got = wanted(model, inputs, got, told["cut"])
    return told | verdict(want, got, told["cut"])


def wanted(
    model: Any, inputs: list[Any], got: torch.Tensor, is_cut: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """The reference's result for the part that was computed, and that part of `got`.

    A cut run of a large batch needs the reference of its first items only.
    """
    first = inputs[0]
    rows = first.shape[0]
    if is_cut and got.dim() > 0 and got.shape[0] == rows and is_batch(inputs):
        used = [index for index in range(min(rows, FIRST)) if is_written(got[index]).any()]
        last = max(used, default=0) + 1
        cut = [
            item[:last] if isinstance(item, torch.Tensor) and item.shape == first.shape else item
            for item in inputs
        ]
        return model(*cut), got[:last]
    return model(*inputs), got


def is_batch(inputs: list[Any]) -> bool:
    """Say whether the first size of the first input is a batch, by the other inputs' sizes."""
    first, rest = inputs[0], inputs[1:]
    others = [item for item in rest if isinstance(item, torch.Tensor) and item.dim() > 0]
    return first.dim() > 2 or (
        len(others) > 0 and all(first.shape[0] not in item.shape[:1] for item in others)
    )


def is_written(values: torch.Tensor) -> torch.Tensor:
    """Fresh memory holds NaN, or -1 in every integer."""
    return ~values.isnan() if values.is_floating_point() else values != -1


def verdict(want: torch.Tensor, got: torch.Tensor, is_cut: bool) -> dict[str, Any]:
    """Compare by the benchmark's own tolerance."""
    if want.shape != got.shape:
        return {"state": "disagrees", "why": f"shape {tuple(got.shape)}, not {tuple(want.shape)}"}
    written = is_written(got) if is_cut else torch.ones_like(got, dtype=torch.bool)
    left, right = got[written].float(), want[written].float()
    if left.numel() == 0:
        return {"state": "nothing written", "compared": 0}
    gap = (left - right).abs()
    wrong = ~(gap <= 1e-4 + 1e-4 * right.abs()) & ~(left == right)
    told = {
        "compared": left.numel(), "elements": got.numel(), "wrong": int(wrong.sum()),
        "max_abs": float(gap.max()), "scale": float(right.abs().mean()),
        "zero_inputs": float((right == 0).float().mean()),
    }  # fmt: skip
    return told | {"state": "disagrees" if told["wrong"] else "agrees"}


def faults_of(reports: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All faults of the launches, with lines, without repetition."""
    lines = Lines()
    found: dict[tuple[str, Any], dict[str, Any]] = {}
    for report in reports:
        for fault in report.get("faults", []):
            found.setdefault((fault["code"], None), fault)
        for one in faults_from(report["launch"], lines) if report.get("launch") else []:
            found.setdefault(
                (one.code, one.line),
                {
                    "code": one.code, "severity": one.severity.value, "message": one.message,
                    "line": one.line, "block": one.block, "pipe": one.pipe,
                },
            )  # fmt: skip
    return list(found.values())


@contextmanager
def random_numbers(is_signed: bool) -> Iterator[None]:
    """Make `torch.rand` signed on demand, and fill only the start of huge tensors."""
    originals = SimpleNamespace(rand=torch.rand, randn=torch.randn)

    def made(original: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        def rand(*size: Any, **options: Any) -> torch.Tensor:
            shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
            count = math.prod(shape)
            if count <= PART:
                return original(*size, **options)
            huge = torch.zeros(count)
            part = original(PART)
            for start in range(0, FILLED if count > DENSE else count, PART):
                huge[start : start + PART] = part[: count - start]
            return huge.reshape(shape)

        return rand

    torch.rand = made(torch.randn if is_signed else torch.rand)
    torch.randn = made(originals.randn)
    try:
        yield
    finally:
        torch.rand, torch.randn = originals.rand, originals.randn


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
