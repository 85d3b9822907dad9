"""Runs a built project's model on CPU tensors and tells what each launch did. Runs in a child.

Usage: `python -m kernelwright.emulator.run_host FOLDER INPUTS.npz OUTPUTS.npz` constructs
`ModelNew` without arguments, calls it with the arrays in order, and prints the launch reports.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kernelwright.emulator.binding_host import MANIFEST, session_of


def load_model(folder: Path, class_name: str = "ModelNew") -> Any:
    """Import the project's model file with the build folder on the path; return its class.

    Raises:
        ImportError: if the file defines no such class.
    """
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location("kw_candidate_model", folder / manifest["model"])
    if spec is None or spec.loader is None:
        raise ImportError(f"{manifest['model']} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = getattr(module, class_name, None)
    if found is None:
        raise ImportError(f"{manifest['model']} defines no {class_name}")
    return found


def run(
    folder: Path, inputs: Sequence[object], *, init: Sequence[object] = ()
) -> tuple[object, list[dict[str, Any]]]:
    """Construct `ModelNew(*init)`, call it once, and return its result and the launch reports."""
    model = load_model(folder)(*init)
    session = session_of(folder)
    session.forget()
    with torch.no_grad():
        result = model(*inputs)
    return result, session.reports()


def main(folder: str, inputs: str, outputs: str) -> int:
    """Run with arrays from `inputs`; write the results to `outputs`, the reports to stdout."""
    arrays = np.load(inputs)
    tensors = [torch.from_numpy(arrays[name]) for name in arrays.files]
    result, reports = run(Path(folder).resolve(), tensors)
    every = result if isinstance(result, (list, tuple)) else [result]
    np.savez(outputs, *[one.numpy() for one in every if isinstance(one, torch.Tensor)])
    sys.stdout.write(json.dumps(reports))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
