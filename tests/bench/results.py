"""What a measurement says, how it is printed, and how it is compared with the figures that were landed last."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

FIGURES = Path(__file__).with_name("figures.json")
DOUBLED = 2.0


@dataclass(frozen=True)
class Result:
    """One measurement.

    Attributes:
        name: What was measured; the key of ``figures.json``.
        value: In ``unit``.
        limit: What no program could beat here, measured in the same run, in ``unit``.
        against: What that limit is.
        unit: ``ms``, ``MB`` or ``%``.
        budget: What it may cost, in ``unit``; ``None`` where nobody set one.
        note: Anything that belongs to the figure.
        fault: Set where a condition without a time failed (a table was read that must not be).
        floor: Differences below this (in ``unit``) are noise of the machine: they never count as doubled.
    """

    name: str
    value: float
    limit: float
    against: str
    unit: str = "ms"
    budget: float | None = None
    note: str = ""
    fault: str = ""
    floor: float = 2.0

    @property
    def ratio(self) -> float:
        """How many times the limit it costs: what can be compared between machines."""
        return self.value / self.limit if self.limit else float("inf")

    @property
    def verdict(self) -> str:
        """``ok``, ``OVER`` or, without a budget, nothing."""
        if self.fault:
            return "FAULT"
        return "" if self.budget is None else "ok" if self.value <= self.budget else "OVER"


@dataclass(frozen=True)
class NotRun:
    """A measurement that could not be made here, and why."""

    name: str
    why: str


def landed(scale: float) -> dict[str, float]:
    """Return the ratios landed last at this scale, by name."""
    try:
        return dict(json.loads(FIGURES.read_text("utf-8")).get(f"{scale:g}", {}))
    except FileNotFoundError:
        return {}


def doubled(result: Result, before: dict[str, float]) -> bool:
    """Whether a ratio is twice what was landed last, by more than the machine's noise."""
    old = before.get(result.name)
    return old is not None and result.ratio > DOUBLED * old and result.value - old * result.limit > result.floor


def land(scale: float, results: Iterable[Result]) -> None:
    """Keep these ratios as the ones to compare with; those of measurements that were not made stay."""
    kept: dict[str, dict[str, float]] = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    at = kept.setdefault(f"{scale:g}", {})
    at.update({result.name: round(result.ratio, 3) for result in results})
    FIGURES.write_text(json.dumps({s: dict(sorted(r.items())) for s, r in sorted(kept.items())}, indent=2) + "\n", "utf-8")


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return "—"
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.1f} {unit}" if value >= 1 else f"{value:.2f} {unit}"


def table(results: Sequence[Result | NotRun], before: dict[str, float]) -> str:
    """Return the table that is printed."""
    rows = [("measure", "value", "limit", "ratio", "landed", "budget", "verdict", "limit is / note")]
    for r in results:
        if isinstance(r, NotRun):
            rows.append((r.name, "not run", "", "", "", "", "", r.why))
            continue
        verdict = " ".join(filter(None, (r.verdict, "DOUBLED" if doubled(r, before) else "")))
        old = f"{before[r.name]:.2f}" if r.name in before else "new"
        tail = "; ".join(filter(None, (r.against, r.note, r.fault)))
        rows.append(
            (r.name, _figure(r.value, r.unit), _figure(r.limit, r.unit), f"{r.ratio:.2f}", old, _figure(r.budget, r.unit), verdict, tail)
        )
    widths = [max(len(row[i]) for row in rows) for i in range(7)]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in range(1, 6)), row[6].ljust(widths[6]), row[7]]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "-" * (sum(widths) + 14))
    return "\n".join(lines)


def as_json(scale: float, results: Sequence[Result | NotRun], before: dict[str, float]) -> str:
    """Return the same for programs."""
    rows = [
        {"name": r.name, "not_run": r.why}
        if isinstance(r, NotRun)
        else {
            "name": r.name,
            "value": round(r.value, 3),
            "limit": round(r.limit, 3),
            "against": r.against,
            "unit": r.unit,
            "ratio": round(r.ratio, 3),
            **({"budget": r.budget, "within": r.verdict == "ok"} if r.budget is not None else {}),
            **({"landed": before[r.name], "doubled": doubled(r, before)} if r.name in before else {}),
            **({"note": r.note} if r.note else {}),
            **({"fault": r.fault} if r.fault else {}),
        }
        for r in results
    ]
    return json.dumps({"scale": scale, "results": rows}, indent=2, ensure_ascii=False)
