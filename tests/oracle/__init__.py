"""What two logged request bodies say changed between them, worked out without the product: nothing here imports ``ctx_inspect``.

:func:`read` takes a body apart, :func:`compare` names what differs between two. Neither knows of sessions, stores or turns.
"""

from tests.oracle.body import Row, Sent, read
from tests.oracle.compare import Differences, Talk, compare

__all__ = ["Differences", "Row", "Sent", "Talk", "compare", "read"]
