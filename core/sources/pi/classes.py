"""What kind of row an entry of a Pi session is: one table, one function."""

from __future__ import annotations

from enum import StrEnum


class Row(StrEnum):
    """The classes of entries."""

    USER = "user"
    ASSISTANT = "assistant"
    RESULT = "tool result"
    SHELL = "shell"
    CUSTOM = "custom message"
    COMPACTION = "compaction"
    BRANCH = "branch summary"
    SYSTEM = "system"
    EDIT = "context edit"
    MODEL = "model"
    THINKING = "thinking"
    SPENT = "usage"
    LABEL = "label"
    NAME = "name"
    NOTE = "note"
    """An entry that is neither sent nor shown: an extension's own data."""
    UNKNOWN = "unknown"


_MESSAGES = {
    "user": Row.USER,
    "assistant": Row.ASSISTANT,
    "toolResult": Row.RESULT,
    "bashExecution": Row.SHELL,
    "custom": Row.CUSTOM,
    "hookMessage": Row.CUSTOM,  # version 2's word for it
    "system": Row.SYSTEM,
}

_ENTRIES = {
    "compaction": Row.COMPACTION,
    "branch_summary": Row.BRANCH,
    "custom_message": Row.CUSTOM,
    "context_edit": Row.EDIT,
    "model_change": Row.MODEL,
    "thinking_level_change": Row.THINKING,
    "usage": Row.SPENT,
    "label": Row.LABEL,
    "session_info": Row.NAME,
    "custom": Row.NOTE,
}

USER_AUTHORED = frozenset({Row.USER})
"""What opens a turn: typed input, expanded commands and skills, an extension's user message. Never custom messages, shell rows, results, summaries."""

ENDS_RUN = frozenset({Row.ASSISTANT, Row.RESULT, Row.SHELL, Row.CUSTOM, Row.COMPACTION, Row.BRANCH})
"""Rows of the conversation: behind one of them the next user message is a turn of its own. Settings, labels and system patches are none."""

IN_CONVERSATION = ENDS_RUN | USER_AUTHORED
"""Rows that become messages of a request."""


def classify(kind: str, role: str) -> Row:
    """Return the class of an entry from its type and, for messages, its role."""
    if kind == "message":
        return _MESSAGES.get(role, Row.UNKNOWN)
    return _ENTRIES.get(kind, Row.UNKNOWN)
