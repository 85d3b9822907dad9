"""The command line: reads options, shows progress and results; everything else is elsewhere."""
