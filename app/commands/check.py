"""``ctx-inspect check SESSION…``: whether sessions keep rules, for CI."""

from __future__ import annotations

import math
from collections.abc import Sequence

import click
from ctx_inspect.app.commands.comparing import counts_for
from ctx_inspect.app.commands.options import Settings, command
from ctx_inspect.app.commands.output import progress, warn, write_json, write_lines
from ctx_inspect.app.commands.stores import Found, Stores, stores
from ctx_inspect.core.diff.drift import drift
from ctx_inspect.core.gate import Finding, Outcome, Rules, budget_of, gate
from ctx_inspect.core.model import Problem, Raw, Shown
from ctx_inspect.core.schema import gate_of
from ctx_inspect.core.text.show import joined, own, said, terminal
from ctx_inspect.core.views.figures import counted
from ctx_inspect.core.views.layout import Line
from ctx_inspect.core.views.sheet import Span, Tone

FAILED, CANNOT_TELL = 1, 5


@command("check")
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION...")
@click.option("--budget", "budgets", metavar="CATEGORY=N", multiple=True, help="Tokens a category may take, 15000 or 15k; repeatable.")
@click.option("--no-reorder", is_flag=True, help="Nothing in front of the conversation may change its place.")
@click.option("--no-rewrite", is_flag=True, help="The conversation may not be rewritten without a recorded cause.")
@click.option("--max-rewrite", type=float, metavar="F", help="Tokens written to the cache, at most F times the largest window.")
@click.option("--allow-unavailable", is_flag=True, help="Pass what cannot be told.")
def check(
    settings: Settings,
    sessions: tuple[str, ...],
    budgets: tuple[str, ...],
    no_reorder: bool,
    no_rewrite: bool,
    max_rewrite: float | None,
    allow_unavailable: bool,
) -> None:
    """Tell whether each SESSION keeps rules: a gate for CI.

    It ends with 0 where all are kept, 1 where one is broken, 5 where that cannot be told of one. A budget is of the first request of each
    turn. Growth of the conversation breaks no rule.
    """
    if max_rewrite is not None and not (math.isfinite(max_rewrite) and max_rewrite >= 0):
        raise click.UsageError("--max-rewrite is a number from 0")
    try:
        rules = Rules(tuple(map(budget_of, budgets)), no_reorder, no_rewrite, max_rewrite)
    except ValueError as error:
        raise click.UsageError(f"--budget: {error}") from None
    if not rules.any:
        raise click.UsageError("name a rule: --budget, --no-reorder, --no-rewrite or --max-rewrite")
    found = stores(settings)
    chosen = list({one.info.key: one for one in map(found.session, sessions)}.values())
    outcomes: list[Outcome] = []
    problems: list[Problem] = []
    with progress(len(chosen), "sessions") as counter:
        for one in chosen:
            settings.doing = f"check {one.info.id}"
            outcome, damaged = _checked(found, one, rules)
            outcomes.append(outcome)
            problems += damaged
            counter.step()
    answer = gate_of(outcomes, allow_unavailable=allow_unavailable)
    if settings.json:
        write_json(answer)
    else:
        write_lines(settings, _lines(outcomes, len(chosen), passed=answer.passed))
    warn([*found.problems, *problems])
    failed = any(o.failures for o in outcomes)
    if not answer.passed:
        raise click.exceptions.Exit(FAILED if failed else CANNOT_TELL)


def _checked(found: Stores, one: Found, rules: Rules) -> tuple[Outcome, Sequence[Problem]]:
    ledger = found.open(one)
    drifts = drift(ledger).turns if rules.compares else ()
    return gate(ledger, rules, drifts, counts_for(ledger, one.source).category), ledger.problems


def _lines(outcomes: Sequence[Outcome], sessions: int, *, passed: bool) -> list[Line]:
    failures = [f for o in outcomes for f in o.failures]
    unknown = [f for o in outcomes for f in o.cannot_tell]
    out = [_line(own("✗"), Tone.ALERT, f) for f in failures] + [_line(own("?"), Tone.DIM, f) for f in unknown]
    facts: list[Shown] = [counted(sessions, "session")]
    if failures:
        facts.append(counted(len(failures), "failure"))
    if unknown:
        facts.append(joined(counted(len(unknown), "rule"), " that cannot be told"))
    word = own("passed") if passed else own("failed") if failures else own("cannot tell")
    tone = Tone.ADDED if passed else Tone.ALERT if failures else Tone.WARN
    return [*out, (Span(word, tone, strong=True), *(Span(joined(" · ", f), Tone.DIM) for f in facts))]


def _line(sign: Shown, tone: Tone, finding: Finding) -> Line:
    where = joined(terminal(Raw(finding.session)), "" if finding.turn is None else joined(" turn ", said(str(finding.turn))))
    return (
        Span(sign, tone),
        Span(joined(" ", where)),
        Span(joined("  ", said(finding.rule)), Tone.DIM),
        Span(joined("  ", said(finding.message))),
    )
