"""OpenCode's database, generation 1 (``session``, ``message``, ``part``)."""
