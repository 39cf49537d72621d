"""``check SESSION… --json``: ``ctx-inspect/check/1``."""

from __future__ import annotations

from collections.abc import Iterable

from ctx_inspect.core.gate import Finding, Outcome
from msgspec import UNSET, Struct, UnsetType


class FailureRow(Struct, kw_only=True):
    """A rule that a session breaks.

    Attributes:
        session: Key of the session.
        turn: Number of the turn; absent where the rule is of the whole session.
        rule: The rule, as its option: ``budget``, ``no-reorder``, ``no-rewrite``, ``max-rewrite``.
        category: The category that it is about.
        message: What breaks it, in a sentence.
    """

    session: str
    turn: int | UnsetType = UNSET
    rule: str
    category: str | UnsetType = UNSET
    message: str


class Gate(Struct, kw_only=True):
    """Whether sessions keep the rules.

    Attributes:
        schema: ``ctx-inspect/check/1``.
        passed: Whether all of them keep all rules, as far as can be told and `--allow-unavailable` lets pass what cannot.
        failures: What breaks a rule.
        cannot_tell: Rules that nobody can tell whether a session keeps, with the reason as the message.
    """

    schema: str = "ctx-inspect/check/1"
    passed: bool
    failures: list[FailureRow]
    cannot_tell: list[FailureRow]


def _row(finding: Finding) -> FailureRow:
    return FailureRow(
        session=finding.session,
        turn=UNSET if finding.turn is None else finding.turn,
        rule=finding.rule,
        category=UNSET if finding.category is None else finding.category.value,
        message=finding.message,
    )


def gate_of(outcomes: Iterable[Outcome], *, allow_unavailable: bool) -> Gate:
    """Return what came of the rules over several sessions."""
    failures: list[FailureRow] = []
    unknown: list[FailureRow] = []
    for outcome in outcomes:
        failures += map(_row, outcome.failures)
        unknown += map(_row, outcome.cannot_tell)
    return Gate(passed=not failures and (allow_unavailable or not unknown), failures=failures, cannot_tell=unknown)
