"""ctx-inspect: shows, turn by turn, what a coding agent's model was really sent.

The packages behind it live at the top of the source tree: ``core`` (everything that thinks, without a
UI), ``widgets`` (drawing) and ``app`` (wiring). They install as ``ctx_inspect.core`` and so on.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]
