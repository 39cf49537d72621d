"""Puts a failed answer into a class, from its stop reason and message, and shows neither."""

from __future__ import annotations

_LOOKED_AT = 2_000
"""Characters of an error message."""

_CLASSES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "overflow",
        (
            "context length",
            "context_length",
            "context window",
            "maximum context",
            "prompt is too long",
            "input is too long",
            "too many tokens",
            "exceeds the limit of",
            "request_too_large",
            "maximum prompt length",
        ),
    ),
    ("auth", ("401", "403", "unauthorized", "forbidden", "api key", "api_key", "authentication", "permission denied", "oauth")),
    ("rate", ("429", "rate limit", "rate_limit", "too many requests", "quota", "usage limit")),
    (
        "server",
        ("500", "502", "503", "504", "529", "overloaded", "server error", "server_error", "internal error", "bad gateway", "unavailable"),
    ),
    (
        "network",
        (
            "econn",
            "enotfound",
            "etimedout",
            "epipe",
            "socket",
            "fetch failed",
            "network",
            "connection",
            "terminated",
            "timed out",
            "timeout",
            "stream ended",
            "ended without",
            "premature",
            "aborted",
        ),
    ),
)


def error_class(stop: str, message: str | None) -> str | None:
    """Return ``auth rate overflow server network aborted other``, or ``None`` where nothing failed.

    Args:
        stop: Pi's stop reason.
        message: Its error message (hostile: only looked at).
    """
    if stop == "aborted":
        return "aborted"
    if stop != "error":
        return None
    text = (message or "")[:_LOOKED_AT].lower()
    for name, words in _CLASSES:
        if any(word in text for word in words):
            return name
    return "other"
