"""Stand-ins for CANN's tools, with the shape of their logs, for machines that have none of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kernelwright.backends.ascendc.cann_build import Ended, Step

_MSOPGEN = """#!/bin/bash
echo "msopgen $*" >> {calls}
if grep -q BadName op.json; then echo "ERROR: the name of the operator is invalid"; exit 1; fi
mkdir -p project/op_host project/op_kernel project/build_out
cp {home}/build.sh project/build.sh
echo "[INFO] Start to generate project"
"""
_BUILD = """#!/bin/bash
echo "build.sh $ASCEND_CUSTOM_OPP_PATH" >> {calls}
echo "-- Configuring done"
kernel=$(ls op_kernel/*.cpp)
if grep -q MISSPELT "$kernel"; then
  echo "$PWD/$kernel:7:5: error: use of undeclared identifier 'MISSPELT'"
  echo "    7 |     MISSPELT(x);"
  echo "1 error generated."
  echo "[ERROR] Opc tool compile failed."
fi
if grep -q NOPACKAGE "$kernel"; then echo "nothing to package"; exit 0; fi
cp {home}/installer.run build_out/custom_opp_ubuntu_x86_64.run
"""
_INSTALLER = """#!/bin/bash
echo "installer $*" >> {calls}
mkdir -p "${{1#--install-path=}}/vendors/customize/op_api/lib"
"""
_PYTHON = """#!/bin/bash
echo "python3 $* $ASCEND_CUSTOM_OPP_PATH" >> {calls}
if grep -q WRONG python_bind_src.cpp; then
  echo "python_bind_src.cpp:3:1: error: 'WRONG' does not name a type"
  exit 1
fi
echo extension > custom_ops_lib.cpython-311-x86_64-linux-gnu.so
"""


def install(folder: Path) -> tuple[dict[str, str], Path]:
    """Put the stand-ins into a folder; return the variables that name them and the log of calls."""
    home, calls = folder / "ascend-toolkit", folder / "calls"
    tools = home / "python" / "site-packages" / "bin"
    tools.mkdir(parents=True)
    (home / "version.cfg").write_text("# version: 1.0\ntoolkit_running_version=[8.2.RC1:8.2]\n")
    scripts = {
        tools / "msopgen": _MSOPGEN,
        tools / "python3": _PYTHON,
        home / "build.sh": _BUILD,
        home / "installer.run": _INSTALLER,
    }
    for path, text in scripts.items():
        path.write_text(text.format(home=home, calls=calls))
        path.chmod(0o755)
    calls.touch()
    return {"ASCEND_HOME_PATH": str(home), "PATH": f"{tools}:/usr/bin:/bin"}, calls


def runner(environ: dict[str, str]) -> object:
    """Return what runs a step with the stand-ins first on the path."""

    def run(step: Step) -> Ended:
        done = subprocess.run(
            step.argv,
            cwd=step.folder,
            env={**environ, **step.env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=30,
            check=False,
        )
        return Ended(done.returncode, done.stdout)

    return run
