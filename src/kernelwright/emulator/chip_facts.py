"""What a tiling function may ask about a chip, out of the chip's figures."""

from __future__ import annotations

from kernelwright.emulator.targets import Chip

_SOC_NUMBERS = {"2201": 1, "2002": 2}
"""`platform_ascendc::SocVersion` by architecture: ASCEND910B and ASCEND310P."""


def host_facts(chip: Chip) -> dict[str, int]:
    """Return the figures that `PlatformAscendC` answers with, as the runtime library names them."""
    memory, constants = chip.memory, chip.constants
    facts = {
        "aic_cores": constants["cube_cores"],
        "aiv_cores": constants["vector_cores"],
        "is_split": int(constants["vector_cores"] != constants["cube_cores"]),
        "l2_bytes": constants["l2_bytes"],
        "fb_bytes": memory["fixpipe_bytes"],
        "soc": _SOC_NUMBERS.get(chip.npu_arch, 1),
    }
    for name in ("ub", "l1", "l0a", "l0b", "l0c", "bt"):
        facts[f"{name}_bytes"] = memory[f"{name}_bytes"]
    return {name: int(value) for name, value in facts.items()}
