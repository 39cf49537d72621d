"""The JSON of the command line, version 1 (docs/json.md): one module per command, msgspec Structs all of them.

Fields may be added, never changed. A field whose value is not known is absent, never ``null``; ids are never cut;
every figure says how well it is known.
"""

from ctx_inspect.core.schema.check import Gate, gate_of
from ctx_inspect.core.schema.common import Figure, Problem, problems_of
from ctx_inspect.core.schema.diff import diff_of
from ctx_inspect.core.schema.diff_rows import Diff
from ctx_inspect.core.schema.doctor import Check, Doctor
from ctx_inspect.core.schema.encode import document
from ctx_inspect.core.schema.sessions import Session, Sessions, session_of
from ctx_inspect.core.schema.show import Show, show_of
from ctx_inspect.core.schema.turns import Turns, turns_of

__all__ = [
    "Check",
    "Diff",
    "Doctor",
    "Figure",
    "Gate",
    "Problem",
    "Session",
    "Sessions",
    "Show",
    "Turns",
    "diff_of",
    "document",
    "gate_of",
    "problems_of",
    "session_of",
    "show_of",
    "turns_of",
]
