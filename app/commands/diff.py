"""``ctx-inspect diff SESSION [TURN]``: what changed between two turns."""

from __future__ import annotations

from collections.abc import Sequence

import click
from ctx_inspect.app.commands.comparing import counts_for, limit_for
from ctx_inspect.app.commands.options import Settings, command
from ctx_inspect.app.commands.output import warn, width, write_file, write_json, write_lines, write_text
from ctx_inspect.app.commands.stores import NotFound, stores, turn_named
from ctx_inspect.core.diff.engine import report as compared
from ctx_inspect.core.diff.report import Report, State
from ctx_inspect.core.masking import masked
from ctx_inspect.core.model import Category, Problem, Raw, replace
from ctx_inspect.core.phrases import Name
from ctx_inspect.core.schema import diff_of, document
from ctx_inspect.core.schema.common import cleaner
from ctx_inspect.core.text.show import terminal
from ctx_inspect.core.views.layout import text_of
from ctx_inspect.core.views.markdown import markdown
from ctx_inspect.core.views.names import named
from ctx_inspect.core.views.report import report_lines

DIFFERS, CANNOT_TELL = 1, 5

LONGEST = 120
"""Characters of a name that are shown."""


@command("diff", context_settings={"ignore_unknown_options": True})
@click.argument("session")
@click.argument("turn", default="last")
@click.option("--against", metavar="TURN", help="Compare with this turn instead of the one sent last before it.")
@click.option("--step", type=click.IntRange(min=1), metavar="N", help="Compare step N of TURN with step N-1.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Write Markdown.")
@click.option("--svg", "as_svg", is_flag=True, help="Write a picture of the report.")
@click.option("-o", "--output", metavar="FILE", help="Write to a new file instead of stdout.")
@click.option("--exit-code", "exit_code", is_flag=True, help="Exit with 1 if it differs, 5 if that cannot be told.")
@click.option("--category", "categories", metavar="NAME", multiple=True, help="With --exit-code: only this category; repeatable.")
@click.option("--redact-names", is_flag=True, help="Write file 1, tool 2, … for names of files, tools, skills, models.")
@click.option("--uncover", is_flag=True, help="Show what looks like a key or password.")
def diff(
    settings: Settings,
    session: str,
    turn: str,
    against: str | None,
    step: int | None,
    as_markdown: bool,
    as_svg: bool,
    output: str | None,
    exit_code: bool,
    categories: tuple[str, ...],
    redact_names: bool,
    uncover: bool,
) -> None:
    """Show what changed in the context between TURN's first request and the turn sent last before it.

    TURN is a number (1…, negative from the end), a message id, or last. The report holds names and figures, never a text or a title.

    With --exit-code it ends with 0 where nothing differs (growth of the conversation is no difference), 1 where something does, 5 where a
    category is unavailable or has nothing to compare with.
    """
    if session.startswith("-"):
        raise click.UsageError(f"no such option: {session}")
    if sum((settings.json, as_markdown, as_svg)) > 1:
        raise click.UsageError("--json, --markdown and --svg are forms of one report: choose one")
    if against is not None and step is not None:
        raise click.UsageError("--against compares turns, --step compares steps: choose one")
    if categories and not exit_code:
        raise click.UsageError("--category belongs to --exit-code")
    asked = tuple(map(_category, categories)) or tuple(Category)
    found = stores(settings)
    one = found.session(session)
    settings.doing = f"diff {one.info.id}"
    ledger = found.open(one)
    chosen = turn_named(ledger, turn)
    other = None if against is None else turn_named(ledger, against).n
    settings.doing = f"diff {one.info.id} {chosen.id}"
    try:
        report = compared(ledger, chosen.n, against=other, step=step, counts=counts_for(ledger, one.source))
    except LookupError as error:
        raise NotFound(str(error.args[0]) if error.args else f"nothing to compare turn {chosen.n} with") from None
    report = replace(report, limit=limit_for(ledger, found.window_for(one), report.after.request))
    problems: Sequence[Problem] = list(dict.fromkeys([*found.problems, *ledger.problems]))
    if redact_names:
        report, problems = masked(report), [replace(p, source=Raw("store")) for p in problems]
    form = "json" if settings.json else "markdown" if as_markdown else "svg" if as_svg else "text"
    _answer(settings, report, problems, form, output, uncover)
    warn(problems)
    if exit_code:
        raise click.exceptions.Exit(code_of(report, asked))


def _category(word: str) -> Category:
    for category in Category:
        if category.value == word:
            return category
    raise click.UsageError(f"--category is one of {', '.join(c.value for c in Category)}")


def _answer(settings: Settings, report: Report, problems: Sequence[Problem], form: str, output: str | None, uncover: bool) -> None:
    name = _name(uncover)
    if form == "json":
        answer = diff_of(report, problems, cleaner(uncover))
        if output is None:
            write_json(answer)
        else:
            write_file(output, document(answer) + "\n")
    elif form == "text":
        lines = report_lines(report, width() if output is None else None, name)
        if output is None:
            write_lines(settings, lines)
        else:
            write_file(output, "".join(text_of(line).rstrip() + "\n" for line in lines))
    else:
        if form == "markdown":
            text = markdown(report, name)
        else:
            from ctx_inspect.app.commands.picture import drawn

            text = drawn(report_lines(report, None, name))
        if output is None:
            write_text(text)
        else:
            write_file(output, text)


def _name(uncover: bool) -> Name:
    """Return what makes names harmless: redacted first, unless the person uncovers them."""
    return (lambda raw: terminal(raw, LONGEST)) if uncover else named


def code_of(report: Report, asked: Sequence[Category]) -> int:
    """Return the exit code that says whether the categories asked for differ.

    Growth is no difference. One that differs outranks one of which that cannot be told.
    """
    states = {report.category(c).state for c in asked}
    if states & {State.CHANGED, State.REWRITTEN}:
        return DIFFERS
    lost = any(report.category(c).lost for c in asked)
    return CANNOT_TELL if lost or states & {State.UNAVAILABLE, State.NO_BASELINE} else 0
