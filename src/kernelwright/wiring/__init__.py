"""The only composition root: puts tasks, backends, gates, memory and stores together."""
