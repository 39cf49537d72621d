"""The command line as a fixture."""

from tests.command import cli

__all__ = ["cli"]
