"""One chip's facts, read from a TOML file a chip: sizes, alignments, bandwidths.

Both the DSL (capacities, alignment) and the emulator (timing) read them, so neither can hold a
second opinion about the hardware.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kernelwright.core.errors import UnknownName
from kernelwright.core.fingerprint import Json

TARGET_FOLDER = Path(__file__).parent / "targets"


@dataclass(frozen=True, slots=True)
class Target:
    """Facts about one chip.

    Attributes:
        name: File name without suffix, such as `ascend910b` or `cpu`.
        facts: The file's tables as read; keys carry their units (`ub_bytes`, `vector_cores`).
    """

    name: str
    facts: Mapping[str, Json]


def load_target(name: str, *, folder: Path = TARGET_FOLDER) -> Target:
    """Read the facts of the chip called `name`.

    Raises:
        UnknownName: if `folder` holds no file of that name.
    """
    path = folder / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob("*.toml")))
        raise UnknownName(f"there is no target called {name!r}", fix=f"known: {known}")
    return Target(name, tomllib.loads(path.read_text(encoding="utf-8")))
