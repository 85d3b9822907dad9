"""Target languages with their toolchains: one folder a backend, the same file names in each."""
