"""Everything of ctx-inspect that thinks: no module below imports a user interface."""
