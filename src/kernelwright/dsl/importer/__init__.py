"""Programs in the public AscendCraft-style dialect, rewritten as programs of this language."""

from __future__ import annotations

from kernelwright.dsl.importer.dialect import Imported, import_dialect

__all__ = ["Imported", "import_dialect"]
