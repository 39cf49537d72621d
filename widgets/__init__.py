"""Widgets: they draw sheets and post messages; they know no store, no file and no app."""
