"""What a user takes away: the best candidate's files, and reports with provenance."""
