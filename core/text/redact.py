"""Known shapes of keys, tokens and passwords, taken out of every text on its way to people, files and models.

Redaction knows shapes, not secrets: a key in a shape that no rule knows is shown. The names of the rules
(:data:`RULES`) are public, in the documentation and in what stands in a secret's place.

Every rule is linear in its text: quantifiers that can fail are bounded, those that are not never look back.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from ctx_inspect.core.model.evidence import Raw


class Rule(NamedTuple):
    """One shape.

    Attributes:
        name: Stands in the secret's place; public.
        hints: Literals (lower case) of which the pattern needs one: most texts hold none and cost a search each.
        expression: The group ``secret`` is what is taken out.
        flags: Of the expression.
    """

    name: str
    hints: tuple[str, ...]
    expression: str
    flags: int = 0


def _rule(name: str, hints: str, pattern: str, flags: int = 0) -> Rule:
    return Rule(name, tuple(hints.split()), pattern, flags)


_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=[\[0-9;]m))"
"""A word begins: also right after an escape written as two characters (arguments are JSON) and after a colour."""
_VALUE = r"(?P<secret>[^\s\"'`,;&<>(){}\[\]\\]{6,512}+)"

RULES: tuple[Rule, ...] = (
    _rule(
        "private-key",
        "-----begin",
        r"(?P<secret>-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END)[A-Za-z0-9+/=\s:,\\.()-])*+(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?)",
    ),
    _rule("anthropic-key", "sk-ant-", _START + r"(?P<secret>sk-ant-[A-Za-z0-9_-]{16,}+)"),
    _rule("openrouter-key", "sk-or-", _START + r"(?P<secret>sk-or-[A-Za-z0-9_-]{16,}+)"),
    _rule("openai-key", "sk-", _START + r"(?P<secret>sk-(?!ant-|or-)[A-Za-z0-9_-]{20,}+)"),
    _rule("stripe-key", "k_", _START + r"(?P<secret>[srp]k_(?:live|test)_[A-Za-z0-9]{16,}+)"),
    _rule("stripe-webhook", "whsec_", _START + r"(?P<secret>whsec_[A-Za-z0-9+/=]{16,}+)"),
    _rule("github-token", "gh", _START + r"(?P<secret>gh[pousr]_[A-Za-z0-9]{30,}+)"),
    _rule("github-fine-token", "github_pat_", _START + r"(?P<secret>github_pat_[A-Za-z0-9_]{22,}+)"),
    _rule("gitlab-token", "gl", _START + r"(?P<secret>gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent|oas)-[A-Za-z0-9_.-]{16,}+)"),
    _rule("aws-access-key", "akia asia abia acca", _START + r"(?P<secret>(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})(?![A-Za-z0-9])"),
    _rule("google-api-key", "aiza", _START + r"(?P<secret>AIza[A-Za-z0-9_-]{30,}+)"),
    _rule("google-oauth-token", "ya29.", _START + r"(?P<secret>ya29\.[A-Za-z0-9_-]{20,}+)"),
    _rule("google-client-secret", "gocspx-", _START + r"(?P<secret>GOCSPX-[A-Za-z0-9_-]{20,}+)"),
    _rule("slack-token", "xox", _START + r"(?P<secret>xox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}+)"),
    _rule("slack-app-token", "xapp-", _START + r"(?P<secret>xapp-[A-Za-z0-9-]{10,}+)"),
    _rule("slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9/_-]{16,}+)"),
    _rule("discord-webhook", "/webhooks/", r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/(?P<secret>\d{5,25}/[A-Za-z0-9_-]{16,}+)"),
    _rule("telegram-token", ":aa", r"(?<!\d)(?P<secret>\d{8,10}:AA[A-Za-z0-9_-]{32,}+)"),
    _rule("npm-token", "npm_", _START + r"(?P<secret>npm_[A-Za-z0-9]{30,}+)"),
    _rule("pypi-token", "pypi-", _START + r"(?P<secret>pypi-[A-Za-z0-9_-]{40,}+)"),
    _rule("huggingface-token", "hf_", _START + r"(?P<secret>hf_[A-Za-z0-9]{30,}+)"),
    _rule("groq-key", "gsk_", _START + r"(?P<secret>gsk_[A-Za-z0-9]{30,}+)"),
    _rule("xai-key", "xai-", _START + r"(?P<secret>xai-[A-Za-z0-9_-]{30,}+)"),
    _rule("perplexity-key", "pplx-", _START + r"(?P<secret>pplx-[A-Za-z0-9]{30,}+)"),
    _rule("replicate-token", "r8_", _START + r"(?P<secret>r8_[A-Za-z0-9]{30,}+)"),
    _rule("sendgrid-key", "sg.", _START + r"(?P<secret>SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+)"),
    _rule("digitalocean-token", "_v1_", _START + r"(?P<secret>do[opr]_v1_[A-Za-z0-9]{40,}+)"),
    _rule("vault-token", "hvs. hvb. hvr.", _START + r"(?P<secret>hv[sbr]\.[A-Za-z0-9_-]{20,}+)"),
    _rule("linear-key", "lin_", _START + r"(?P<secret>lin_(?:api|oauth)_[A-Za-z0-9]{30,}+)"),
    _rule("notion-token", "ntn_", _START + r"(?P<secret>ntn_[A-Za-z0-9]{30,}+)"),
    _rule("age-key", "age-secret-key-", r"(?P<secret>AGE-SECRET-KEY-1[A-Z0-9]{40,}+)"),
    _rule("jwt", "eyj", _START + r"(?P<secret>eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+)"),
    _rule(
        "authorization",
        "auth",
        r"(?:authorization|x-auth[a-z-]{0,12})[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:[a-z]{3,12}\s{1,4})?" + _VALUE,
        re.IGNORECASE,
    ),
    _rule("bearer-token", "bearer", r"\bbearer\s{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{16,}+)", re.IGNORECASE),
    _rule("url-password", "://", r"://[^\s/:@\"'<>]{0,128}:(?P<secret>[^\s/@\"'<>]{1,256})@"),
    _rule(
        "password",
        "pass",
        r"(?:password|passwd|passphrase|pgpassword)[\"']?\s{0,4}(?:=>|[:=])\s{0,4}[\"']?" + _VALUE,
        re.IGNORECASE,
    ),
    _rule(
        "secret-value",
        "key secret token",
        r"(?:api[_-]?key|apikey|secret[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret|auth[_-]?token|access[_-]?token|refresh[_-]?token|session[_-]?token|"
        r"[_-]token|[_-]secret|[_-]key)[\"']?\s{0,4}(?:=>|[:=])\s{0,4}[\"']?(?P<secret>(?=[^\s\"'`,;]{0,64}[0-9])[^\s\"'`,;&<>(){}\[\]\\$]{12,512}+)",
        re.IGNORECASE,
    ),
)
"""All rules, in the order in which they are applied. Vendors' shapes come before the general ones, which name less."""

_PLACED = "[redacted:"


def redact(raw: Raw) -> Raw:
    """Return a text without what looks like a key, token or password.

    Args:
        raw: Text from outside, whole: a key cut in two has no shape, so redact before cutting.

    Returns:
        The text with ``[redacted:<rule>]`` in the place of each secret; still hostile text.
    """
    if len(raw) < 7:  # the shortest shape is longer
        return raw
    text: str = raw
    low = text.lower()
    for rule in RULES:
        if any(hint in low for hint in rule.hints):
            text = _pattern(rule).sub(lambda m, name=rule.name: _replace(m, name), text)
    return Raw(text)


@cache
def _pattern(rule: Rule) -> re.Pattern[str]:
    """Compile a rule when a text first needs it: all of them at import would cost a twentieth of the first frame."""
    return re.compile(rule.expression, rule.flags)


def _replace(match: re.Match[str], name: str) -> str:
    start, end = match.span("secret")
    found = match.group()
    if _PLACED in match.group("secret") or match.string.startswith(_PLACED, start):
        return found  # what a rule before has taken out already
    offset = match.start()
    return f"{found[: start - offset]}{_PLACED}{name}]{found[end - offset :]}"


def uncovered(raw: Raw, uncover: bool) -> Raw:
    """Return the text as it is where the person asked for that (``--uncover``), else redacted."""
    return raw if uncover else redact(raw)


_ENDS = "\"'<>`"
"""Characters that no key holds, besides blanks and what is not ASCII."""

_LONGEST = 2_048
"""Characters of a beginning of a key that are taken away; all shapes that may be longer are known by fewer."""


def whole_words(raw: Raw, *, cut: bool) -> Raw:
    """Return a text whose end was cut off without its last run of characters, which could be the beginning of a key.

    Args:
        raw: The beginning of a text.
        cut: Whether there is more of it; else it is returned as it is.
    """
    if not cut:
        return raw
    end, least = len(raw), len(raw) - _LONGEST
    while end > max(0, least) and "!" <= raw[end - 1] <= "~" and raw[end - 1] not in _ENDS:
        end -= 1
    return Raw(raw[:end])
