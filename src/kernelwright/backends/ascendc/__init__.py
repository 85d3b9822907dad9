"""The Ascend C backend: projects of six parts, on the emulator or on a real toolchain."""
