"""Text at the border: made harmless, redacted, measured and counted."""
