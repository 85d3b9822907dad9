"""The CPU backend: C++ with a plain C ABI, built by g++ or clang++, called through ctypes."""
