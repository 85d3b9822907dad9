"""An installed CANN toolkit: where it lies, what it is, and what a process needs to use it.

Nothing here runs on a machine without a toolkit; the tests use recorded stand-ins of its tools.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kernelwright.core.errors import ToolchainMissing

HOMES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_INSTALL_PATH")
"""Variables that the toolkit's set_env.sh sets, in the order in which they are asked."""

PLACES = (
    Path("/usr/local/Ascend/ascend-toolkit/latest"),
    Path.home() / "Ascend" / "ascend-toolkit" / "latest",
)
"""Where the toolkit's installer puts it when nothing else is said."""

_VERSION_FILES = ("version.cfg", "compiler/version.info", "ascend_toolkit_install.info")
_VERSION = re.compile(r"(?:^|[\[\s_,=])[Vv]ersion\w*\s*=\s*\[?\s*([\w.]*\d[\w.]*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cann:
    """One toolkit.

    Attributes:
        home: Its folder.
        msopgen: The tool that makes an operator project from its JSON.
        version: What it says of itself, `unknown` where it says nothing.
        chip: What projects are generated for, such as `ai_core-Ascend910B2`.
    """

    home: Path
    msopgen: Path
    version: str
    chip: str

    def environment(self, *, operators: Path | None = None) -> dict[str, str]:
        """Return the variables a process needs to build or run with this toolkit.

        Args:
            operators: Folder that custom operators were installed to; None while building, since
                an installed operator of the same name disturbs a build.
        """
        libraries = [self.home / "lib64", self.home / "lib64/plugin/opskernel"]
        found = {"ASCEND_HOME_PATH": str(self.home), "ASCEND_OPP_PATH": str(self.home / "opp")}
        if operators is not None:
            vendor = operators / "vendors" / "customize"
            libraries.insert(0, vendor / "op_api" / "lib")
            found["ASCEND_CUSTOM_OPP_PATH"] = str(vendor)
        return {**found, "LD_LIBRARY_PATH": ":".join(str(path) for path in libraries)}


def find_cann(environ: Mapping[str, str] = os.environ, *, chip: str = "910B2") -> Cann | None:
    """Return the installed toolkit, None if there is none.

    Args:
        environ: The process's variables.
        chip: Name of the chip as in the targets, such as `910B2`.

    Raises:
        ToolchainMissing: if a variable names a toolkit that is not there, or lacks msopgen.
    """
    named = next((environ[name] for name in HOMES if environ.get(name)), None)
    home = Path(named) if named else next((place for place in PLACES if place.is_dir()), None)
    if home is None:
        return None
    if not home.is_dir():
        raise ToolchainMissing(
            f"the CANN toolkit is said to be at {home}, but there is no such folder",
            fix=f"source the toolkit's set_env.sh again, or unset {HOMES[0]} to use the emulator",
        )
    return Cann(home, _msopgen(home, environ), _version(home), f"ai_core-Ascend{chip}")


def _msopgen(home: Path, environ: Mapping[str, str]) -> Path:
    inside = home / "python" / "site-packages" / "bin" / "msopgen"
    found = str(inside) if inside.is_file() else shutil.which("msopgen", path=environ.get("PATH"))
    if found is None:
        raise ToolchainMissing(
            f"the CANN toolkit at {home} has no msopgen",
            fix="install the toolkit's development package, or use the emulator",
        )
    return Path(found)


def _version(home: Path) -> str:
    for name in _VERSION_FILES:
        file = home / name
        match = _VERSION.search(file.read_text(errors="replace")) if file.is_file() else None
        if match is not None:
            return match[1]
    return "unknown"
