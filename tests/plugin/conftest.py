"""The package's own tests run where it is installed, from `test_plugin.py`."""

collect_ignore = ["kernelwright-plugin-example"]
