"""Compares what two requests carried. Pure: no I/O, no clock."""
