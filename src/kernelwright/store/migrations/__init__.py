"""Numbered steps from one shape of the database to the next; a released one is never edited."""
