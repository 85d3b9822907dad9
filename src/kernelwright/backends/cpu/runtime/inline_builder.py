"""Runs in the builder: imports a `load_inline` candidate so that its libraries get built.

Each call of `load_inline` builds into a folder of its own; the libraries are left as
`inline/NAME.so`, where `inline_ops.py` finds them in the process that runs the candidate.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
import traceback
from typing import Any

from torch.utils import cpp_extension

_OUTPUT = os.path.abspath("inline")
_real: Any = cpp_extension.load_inline


def _load_inline(name: str, *args: Any, **options: Any) -> Any:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,80}", name):
        raise ValueError(f"load_inline: {name!r} is no name for an extension")
    folder = os.path.abspath(os.path.join("ext", name))
    os.makedirs(folder, exist_ok=True)
    options.update(build_directory=folder, verbose=False, is_python_module=True)
    module = _real(name, *args, **options)
    os.makedirs(_OUTPUT, exist_ok=True)
    shutil.copy(os.path.join(folder, f"{name}.so"), os.path.join(_OUTPUT, f"{name}.so"))
    return module


def main() -> int:
    """Import `model.py` with `load_inline` observed; return an exit status."""
    cpp_extension.load_inline = _load_inline
    spec = importlib.util.spec_from_file_location("candidate", os.path.abspath("model.py"))
    if spec is None or spec.loader is None:
        return 1
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.getcwd())
    try:
        spec.loader.exec_module(module)
    except Exception:  # noqa: BLE001 - told on stderr: it is the candidate's feedback
        text = traceback.format_exc()
        # ninja's output holds the compiler's messages; the Python frames around it help nobody.
        sys.stderr.write(text[text.find("Error building extension") :] if "ninja" in text else text)
        return 1
    return 0


if __name__ == "__main__":
    sys.stdout.flush()
    code = main()
    sys.stderr.flush()
    os._exit(code)
