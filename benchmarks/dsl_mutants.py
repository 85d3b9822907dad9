"""Which mistakes in printed C++ the standard inputs notice: mutants and their kill rate.

    python benchmarks/dsl_mutants.py [--only LABEL ...] [--check]

Every place of the printed kernels and host functions is changed in every way that
`tests/support/cpp_mutants.py` knows, one at a time, for the example programs and the programs of
one feature each. A mutant is killed when a call gives a wrong number, writes or reads outside its
tensors, crashes or does not end. Mutants that do not compile do not count. Survivors are listed
with an argument where one of `EQUIVALENT` says why no input can tell them apart; the rate is that
of the others. Writes `results/dsl_mutants.json`.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from kernelwright.dsl.lower import program_text  # noqa: E402
from support.cpp_kills import judge, subjects  # noqa: E402
from support.cpp_mutants import Mutant, mutants  # noqa: E402

EQUIVALENT: tuple[tuple[str, str, str], ...] = ()
"""Line, change, and why no input tells the mutant from the program."""


def argument(mutant: Mutant) -> str:
    """Why a mutant is equivalent; nothing where no argument is known."""
    for line, change, why in EQUIVALENT:
        if re.search(line, mutant.line) and re.fullmatch(change, mutant.change):
            return why
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], help="labels of programs")
    parser.add_argument("--check", action="store_true", help="write nothing; fail below 95 %%")
    given = parser.parse_args()
    start = time.monotonic()
    rows: list[dict[str, Any]] = []
    kinds: Counter[tuple[str, bool]] = Counter()
    survivors: list[dict[str, str]] = []
    for subject in subjects():
        if given.only and subject.label not in given.only:
            continue
        subject.prepare()
        made = list(mutants(program_text(subject.lowered)))
        found = judge(subject, made)
        argued = [item for item in found.survived if argument(item)]
        rows.append(
            {
                "program": subject.label,
                "mutants": len(made),
                "do_not_compile": found.refused,
                "killed": len(found.killed),
                "equivalent": len(argued),
                "alive": len(found.survived) - len(argued),
            }
        )
        print(*(f"{key}={value}" for key, value in rows[-1].items()), flush=True)
        kinds.update((item.what, True) for item in found.killed)
        kinds.update((item.what, False) for item in found.survived if not argument(item))
        for item in found.survived:
            survivors.append(
                {
                    "program": subject.label,
                    "line": item.line,
                    "kind": item.what,
                    "change": item.change,
                    "equivalent_because": argument(item),
                }
            )
    total = Counter[str]()
    for row in rows:
        total.update({key: value for key, value in row.items() if key != "program"})
    judged = total["killed"] + total["alive"]
    rate = total["killed"] / judged if judged else 0.0
    print(f"{judged} mutants that are not equivalent, {rate:.2%} killed; {dict(total)}")
    for item in survivors:
        if not item["equivalent_because"]:
            print(f"  alive: {item['program']}: {item['change']}   in   {item['line']}")
    if given.check:
        sys.exit(rate < 0.95)
    if not given.only:
        record = {
            "rate": round(rate, 4),
            "total": dict(total),
            "kinds": {
                kind: {"killed": kinds[kind, True], "alive": kinds[kind, False]}
                for kind in sorted({kind for kind, _ in kinds})
            },
            "programs": rows,
            "survivors": survivors,
            "seconds": round(time.monotonic() - start),
            "machine": platform.machine(),
        }
        path = ROOT / "benchmarks" / "results" / "dsl_mutants.json"
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


main()
