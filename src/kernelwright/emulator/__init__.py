"""Ascend C on the host: compiles a project unchanged, runs it, and reports every broken rule."""
