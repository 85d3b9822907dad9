"""`python -m kernelwright` is the command `kernelwright`."""

from __future__ import annotations

from kernelwright.cli.app import main

main()
