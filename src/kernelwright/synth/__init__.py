"""Offline generator: a traced reference becomes a canonical view, a template and C++."""
