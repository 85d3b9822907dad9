"""Printers: plans of kernels, and host functions, as C++ text."""
