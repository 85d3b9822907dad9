"""Records and ports that every other package shares; standard library only."""
