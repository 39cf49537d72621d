"""Pi's session files (JSON Lines trees)."""
