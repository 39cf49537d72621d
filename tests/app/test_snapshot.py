from __future__ import annotations

from ctx_inspect.app.snapshot import compose, last_request
from ctx_inspect.core.model import Confirmed, Usage, Witness, replace

from tests.app.fakes import FakeSource, ledger


def fitted(turns: int):  # type: ignore[no-untyped-def]
    """Return a session whose provider counted what is in the store, so that the counter can be calibrated."""
    made = ledger("pi:a", "x", turns)

    def real(request):  # type: ignore[no-untyped-def]
        assert request.context is not None
        size = sum(i.size or 0 for i in request.context.items) + sum(p.size or 0 for m in request.context.messages for p in m.parts)
        return replace(request, usage=Confirmed(Usage(size // 4, 9, None, 0, 0), Witness.PROVIDER))

    return replace(made, turns=tuple(replace(t, requests=tuple(map(real, t.requests))) for t in made.turns))


def test_the_counter_stays_once_it_is_calibrated() -> None:
    first = fitted(6)
    source = FakeSource([first])
    one = compose(source, first)
    assert "calibrated" in one.counter.name
    assert compose(source, fitted(9), before=one).counter is one.counter


def test_a_plain_counter_is_replaced_when_there_is_something_to_calibrate_on() -> None:
    empty = ledger("pi:a", "x", 0)
    source = FakeSource([empty])
    one = compose(source, empty)
    assert one.shares is None
    assert "calibrated" in compose(source, fitted(6), before=one).counter.name


def test_the_gauge_takes_the_newest_request_with_a_figure() -> None:
    made = ledger("pi:a", "x", 5)
    last = made.turns[-1]
    running = replace(last.requests[-1], id="late", usage=made.turns[0].requests[0].attempts, context=None)
    growing = replace(made, turns=(*made.turns[:-1], replace(last, requests=(*last.requests, running))))
    snapshot = compose(FakeSource([growing]), growing)
    assert snapshot.shares is not None
    request = last_request(snapshot.timeline.turns[-1])
    assert request is not None
    assert request.id == last.requests[-1].id
    assert snapshot.row(0) is None
    assert snapshot.row(6) is None
