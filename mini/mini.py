"""Kernelwright in one file: learn to write fast C++ row kernels, with nothing but g++ and numpy.

    python mini/mini.py [--budget 8] [--tasks softmax,rms_norm,softmin] [--log mini.jsonl]

One rollout is one sentence, and `rollout()` below is that sentence:

    task -> propose -> retrieve context -> generate -> verify through gates -> reward -> record

Nothing else is state: the values that steer retrieval are a fold over the log of rollouts, so one
can stop at any moment and go on with the same log. In the product each function is a package.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import random
import select
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from subprocess import DEVNULL, PIPE, Popen, run


# --- tasks: the reference in float64 is the truth, in float32 it is the baseline -----------------
@dataclass(frozen=True)
class Task:
    """A map of rows to rows; `reference` is numpy, the three C++ fragments are its translation."""

    name: str
    reference: Callable
    load: str  # how an element enters: an expression in x[j]
    shifted: bool  # whether the largest element of the row is subtracted first
    term: str  # what is summed: an expression in v
    finish: str  # what is written: an expression in v, t (the term), s (the sum) and n


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def rms_norm(x):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + x.dtype.type(1e-6))


TASKS = (
    Task("softmax", softmax, "x[j]", True, "EXP(v)", "t / s"),
    Task("rms_norm", rms_norm, "x[j]", False, "v * v", "v / std::sqrt(s / n + 1e-6f)"),
    Task("softmin", lambda x: softmax(-x), "-x[j]", True, "EXP(v)", "t / s"),
)

# --- memory: practices anyone might have heard; which of them are any good is to be learned ------
PRACTICES = {
    "lanes": "Keep 16 partial results: one chain of additions cannot fill a vector register.",
    "poly_exp": "Write exp as a polynomial in the loop: a call into libm stops the vectoriser.",
    "reuse": "Keep each term in the output and finish it there: do not compute it twice.",
    "whole_vectors": "Loop over whole groups of 16 only: the remainder loop costs branches.",
    "no_shift": "Do not look for the largest element: it is one more pass over the row.",
}

# --- generator: knows C++, but uses only the practices that its context shows it -----------------
POLY_EXP = """
static inline float EXP(float x) {
  x = x < -87.f ? -87.f : x > 88.f ? 88.f : x;
  const float k = std::floor(x * 1.44269504f + .5f), r = (x - k * .693359375f) + k * 2.12194440e-4f;
  const float p = 1 + r * (1 + r * (.5f + r * (.16666667f + r * (.04166667f + r * .00833333f))));
  union { int bits; float value; } scale = {(int(k) + 127) << 23};
  return p * scale.value;
}"""


def generate(task: Task, practices: tuple[str, ...]) -> str:
    """Write the kernel for a task with exactly these practices."""
    has = set(practices).__contains__
    width = 16 if has("lanes") else 1
    load = f"const float v = {task.load} - shift;"
    keep, term = ("y[j] = t;", "y[j]") if has("reuse") else ("", task.term)

    def loop(body: str) -> str:
        """Visit every element j of a row with partial result k."""
        rest = f"for (; i < n; ++i) {{ const long j = i, k = 0; {body} }}"
        step = 16 if has("whole_vectors") else width
        return f"""long i = 0;
      for (; i + {step} <= n; i += {step}) for (long w = 0; w < {step}; ++w) {{
        const long j = i + w, k = w % {width}; {body} }}
      {"" if has("whole_vectors") else rest}"""

    partials = f"float part[{width}]; for (float& p : part) p ="
    find_shift = f"""{{ {partials} -INFINITY;
      {loop(f"const float v = {task.load}; part[k] = v > part[k] ? v : part[k];")}
      shift = part[0]; for (float p : part) shift = p > shift ? p : shift; }}"""
    return f"""#include <cmath>
{POLY_EXP if has("poly_exp") else "static inline float EXP(float x) { return std::exp(x); }"}
extern "C" void kernel(const float* __restrict x, float* __restrict y, long rows, long n) {{
  for (long row = 0; row < rows; ++row, x += n, y += n) {{
    float shift = 0, s = 0;
    {find_shift if task.shifted and not has("no_shift") else ""}
    {{ {partials} 0;
      {loop(f"{load} const float t = {task.term}; {keep} part[k] += t;")}
      for (float p : part) s += p; }}
    {{ {loop(f"{load} const float t = {term}; (void)t; y[j] = {task.finish};")} }}
  }}
}}
"""


# --- gates: cheap first, first failure stops. A bad candidate is a value, not an exception -------
FLAGS = ["-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC"]
FORBIDDEN = ("system", "fork", "exec", "dlopen", "fopen", "asm", "thread", "chrono", "exit")


@dataclass(frozen=True)
class Verdict:
    """`gate` is the first gate that failed, or None; then `speedup` is baseline over candidate."""

    gate: str | None
    reason: str = ""
    latency_us: float | None = None
    speedup: float | None = None


def verify(task: Task, source: str, rng: random.Random) -> Verdict:
    """Screen, compile, compare with the reference, time."""
    if found := [word for word in FORBIDDEN if word in source]:
        return Verdict("screen", f"a kernel has no business with {found}")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "kernel.so"
        build = ["g++", *FLAGS, "-xc++", "-", "-o", library]
        done = run(build, input=source, capture_output=True, text=True, timeout=60)
        if done.returncode:
            return Verdict("compile", done.stderr[:400])
        start = [sys.executable, __file__, "--worker", library]
        with Popen(start, stdin=PIPE, stdout=PIPE, stderr=DEVNULL) as worker:
            try:
                return correctness(task, worker, rng) or latency(task, worker, rng)
            except (TimeoutError, EOFError, BrokenPipeError) as fault:  # hung, crashed, fell short
                return Verdict("correctness", f"the kernel did not answer: {fault}")
            finally:
                worker.kill()


def correctness(task: Task, worker: Popen, rng: random.Random) -> Verdict | None:
    """Compare on secret inputs: usual ones, a ragged width, large magnitudes. None is a pass."""
    for rows, columns, scale in ((64, 1024, 1.0), (33, 1003, 3.0), (8, 257, 200.0)):
        draw = np.random.default_rng(rng.getrandbits(64))
        x = (draw.standard_normal((rows, columns)) * scale).astype(np.float32)
        got = np.frombuffer(output_of(worker, x), np.float32).reshape(x.shape)
        want = task.reference(x.astype(np.float64))
        right = np.abs(got - want) <= 1e-5 * np.abs(want).max()  # False where anything is NaN
        if not right.all():
            wrong = f"{(~right).sum()} of {x.size} values are wrong"
            return Verdict("correctness", f"{wrong} ({rows}x{columns}, inputs about {scale:g})")
    return None


def latency(task: Task, worker: Popen, rng: random.Random) -> Verdict:
    """Time candidate and baseline in turn, by our own clock; the median of the pairs counts."""
    x = np.random.default_rng(rng.getrandbits(64)).standard_normal((256, 2000)).astype(np.float32)
    output_of(worker, x)
    seconds: dict[str, list[float]] = {"a": [], "b": []}
    for side in "abba" * 6:
        start = time.perf_counter()
        ask(worker, b"repeat 3\n", 1) if side == "a" else [task.reference(x) for _ in range(3)]
        seconds[side].append(time.perf_counter() - start)
    ratios = [b / a for a, b in zip(seconds["a"], seconds["b"], strict=True)]
    return Verdict(None, "", median(seconds["a"]) / 3 * 1e6, median(ratios))


# --- worker: the process that runs a candidate; it never holds reference, seed or tolerance. -----
# --- (The product also confines files, network, memory and processes; here, only time.) ----------
def output_of(worker: Popen, x) -> bytes:
    """Return what the kernel wrote for x."""
    return ask(worker, f"run {x.shape[0]} {x.shape[1]}\n".encode() + x.tobytes(), x.nbytes)


def ask(worker: Popen, request: bytes, length: int, limit_s: float = 10.0) -> bytes:
    """Send a request and return exactly `length` bytes of reply."""
    worker.stdin.write(request)
    worker.stdin.flush()
    reply, end = b"", time.monotonic() + limit_s
    while len(reply) < length:
        if not select.select([worker.stdout], [], [], max(0, end - time.monotonic()))[0]:
            raise TimeoutError(f"nothing within {limit_s:g} s")
        chunk = os.read(worker.stdout.fileno(), length - len(reply))
        if not chunk:
            raise EOFError(f"it ended after {len(reply)} of {length} bytes")
        reply += chunk
    return reply


def worker_main(library: str) -> None:
    kernel = ctypes.CDLL(library).kernel
    requests, replies = sys.stdin.buffer, sys.stdout.buffer
    while line := requests.readline().split():
        if line[0] == b"run":
            rows, columns = int(line[1]), int(line[2])
            size = rows * columns * 4
            x = ctypes.create_string_buffer(requests.read(size), size)
            y = ctypes.create_string_buffer(b"\xff" * size, size)  # NaN: what is not written shows
            kernel(x, y, ctypes.c_long(rows), ctypes.c_long(columns))
            replies.write(y.raw)
        else:
            for _ in range(int(line[1])):
                kernel(x, y, ctypes.c_long(rows), ctypes.c_long(columns))
            replies.write(b".")
        replies.flush()


# --- learning: reward, values, and the choices that they steer -----------------------------------
def reward_of(stage: str, verdict: Verdict, best_us: float | None) -> float:
    """EvoKernel (arXiv:2603.10846), eq. 5, 6: bounded, so that no single win drowns the rest."""
    if verdict.gate is not None:
        return -1.0
    return 1.0 if stage == "draft" else math.tanh(math.log(best_us / verdict.latency_us))


def values_of(log: list[dict], step_size: float = 0.3) -> dict[tuple[str, str], float]:
    """Eq. 4, Q <- Q + a (r - Q), for all that a rollout was shown. Rebuilt from the log alone."""
    values = {}
    for entry in log:
        for item in filter(None, (*entry["context"], entry["start_point"])):
            old = values.get((entry["stage"], item), 0.0)
            values[entry["stage"], item] = old + step_size * (entry["reward"] - old)
    return values


def chosen(names, stage: str, values, rng: random.Random, count: int, epsilon: float = 0.2):
    """Take `count` names: mostly the most valuable ones, sometimes any; ties are drawn."""
    pool = rng.sample(names, len(names))
    if rng.random() >= epsilon:
        pool.sort(key=lambda name: -values.get((stage, name), 0.0))
    return tuple(pool[:count])


def propose(history: list[dict], values, rng: random.Random) -> tuple[str, str | None]:
    """Draft until something is feasible, then refine one of the feasible candidates."""
    feasible = {entry["practices"] for entry in history if entry["verdict"]["gate"] is None}
    if not feasible:
        return "draft", None
    return "refine", chosen(sorted(feasible), "refine", values, rng, 1)[0]


def rollout(task: Task, log: list[dict], seed: int) -> dict:
    """One pass through everything. Same log and seed: same proposal."""
    rng = random.Random(f"{seed}/{len(log)}")
    values = values_of(log)
    history = [entry for entry in log if entry["task"] == task.name]
    stage, start_point = propose(history, values, rng)
    known = start_point.split("+") if start_point else []
    tried = [set(entry["practices"].split("+")) for entry in history]
    unknown = [p for p in PRACTICES if p not in known and {*known, p} not in tried]
    context = chosen(unknown, stage, values, rng, 2 if stage == "draft" else 1)
    practices = (*known, *context)
    verdict = verify(task, generate(task, practices), random.SystemRandom())
    best = [e["verdict"]["latency_us"] for e in history if e["verdict"]["gate"] is None]
    reward = reward_of(stage, verdict, min(best, default=None))
    shown = {"task": task.name, "stage": stage, "start_point": start_point, "context": context}
    return shown | {"practices": "+".join(practices), "verdict": asdict(verdict), "reward": reward}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budget", type=int, default=8, help="rollouts a task")
    parser.add_argument("--tasks", default=",".join(task.name for task in TASKS))
    parser.add_argument("--log", type=Path, default="mini.jsonl", help="goes on where it ended")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.log.touch()
    log = [json.loads(line) for line in options.log.read_text().splitlines()]
    for task in (task for task in TASKS if task.name in options.tasks.split(",")):
        while sum(entry["task"] == task.name for entry in log) < options.budget:
            log.append(entry := rollout(task, log, options.seed))
            with options.log.open("a") as file:
                file.write(json.dumps(entry) + "\n")
            verdict = Verdict(**entry["verdict"])
            outcome = verdict.reason and f"{verdict.gate}: {verdict.reason}"
            outcome = outcome or f"{verdict.latency_us:6.0f} us, {verdict.speedup:5.2f}x numpy"
            print(f"{task.name:9}{entry['stage']:7}{entry['practices']:28} {outcome}", flush=True)
    print("\nwhat it learned, Q(draft) and Q(refine):")
    values = values_of(log)
    for name, text in PRACTICES.items():
        numbers = (f"{values.get((stage, name), 0.0):+.2f}" for stage in ("draft", "refine"))
        print("  ", *numbers, f"{name:14}", text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker_main(sys.argv[2])
    else:
        import numpy as np  # not in the worker: it would take ten times as long to start

        main()
