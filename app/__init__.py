"""Wiring: the command line and the terminal application."""
