"""Exact words of each kind of sentence."""

from __future__ import annotations

import pytest
from ctx_inspect.core.cache.model import NOT_REPORTED, Cache, CacheCause, CacheCode, CacheVerdict
from ctx_inspect.core.diff.report import Cause, CauseKind, Change, ChangeKind, Flag, NoBaseline, Report, State
from ctx_inspect.core.model import Category, Confirmed, Estimated, MarkKind, Raw, Unavailable, Why, replace
from ctx_inspect.core.sentences import MOST, sentences

from tests.core.reports import (
    COMPACTED,
    COMPACTION,
    KEPT,
    LOST,
    MISSING,
    REBUILT,
    added,
    caused,
    change,
    item,
    mark,
    modified,
    opencode,
    part,
    removed,
    report,
    setting,
    talk,
    toks,
    without_baseline,
)
from tests.core.text.hostile import HOSTILE

INSTRUCTIONS, SKILLS, TOOLS, SETTINGS, SYSTEM, CONVERSATION = Category
AGENTS = modified(INSTRUCTIONS, "/home/ann/my-app/AGENTS.md", 1204, 2444)
SEARCH = modified(TOOLS, "filesystem_search", 612, 532, parts=("schema",))


def said(of: Report) -> list[str]:
    return [s.text for s in sentences(of)]


def witnesses(of: Report) -> list[tuple[str, str]]:
    return [(s.witness, s.source) for s in sentences(of)]


def test_the_three_sentences_of_the_sketch() -> None:
    of = report(part(INSTRUCTIONS, AGENTS), part(TOOLS, SEARCH), conversation=COMPACTED, cache=LOST)
    assert said(of) == [
        "! Compacted (auto): 184 → 9 messages, −62.9k",
        "○ Cache lost at filesystem_search: 41.3k rewritten",
        "~ AGENTS.md ≈+1,240 · filesystem_search schema ≈−80",
    ]
    assert witnesses(of) == [
        ("recorded", "recorded by opencode"),
        ("wire + provider", "wire + provider usage"),
        ("wire", "wire"),
    ]
    assert [s.number for s in sentences(of)] == [Confirmed(-62_900), Confirmed(41_300), None]
    assert [s.category for s in sentences(of)] == [CONVERSATION, None, INSTRUCTIONS]
    assert sentences(of)[2].k == "/home/ann/my-app/AGENTS.md"


def test_only_growth() -> None:
    assert said(report()) == ["· Only growth: 2 messages, +1.9k. Cache kept 97 %."]
    assert witnesses(report()) == [("wire", "wire")]
    more = report(conversation=talk(added=7, steps=3))
    assert said(more) == ["· Only growth: 7 messages in 3 steps, +1.9k. Cache kept 97 %."]
    assert said(report(conversation=talk(added=1))) == ["· Only growth: 1 message, +1.9k. Cache kept 97 %."]


def test_growth_by_the_counter_where_the_provider_reports_no_window() -> None:
    gone = Unavailable(Why.NOT_REPORTED, "none")
    of = report(window_after=gone)
    assert said(of) == ["· Only growth: 2 messages, ≈+1.9k. Cache kept 97 %."]
    assert next(s for s in sentences(of)[0].spans if "1.9k" in s.text).italic
    assert said(report(window_after=gone, talk_tokens=toks(5, 5))) == ["· Only growth: 2 messages. Cache kept 97 %."]
    assert said(report(window_after=gone, talk_tokens=replace(toks(5, 6), delta=gone))) == ["· Only growth: 2 messages. Cache kept 97 %."]


def test_the_same() -> None:
    of = report(conversation=talk(State.SAME, 0))
    assert said(of) == ["· Nothing changed. Cache kept 97 %."]


@pytest.mark.parametrize(
    ("verdict", "tail"),
    [
        (NOT_REPORTED, "Cache not reported."),
        (CacheVerdict(Cache.NOT_CACHEABLE, "confirmed"), "Too short to be cached."),
        (CacheVerdict(Cache.COLD, "confirmed"), "Cache cold."),
        (replace(KEPT, r=0.999), "Cache kept 99 %."),
        (replace(KEPT, r=1.0), "Cache kept 100 %."),
        (replace(KEPT, r=None), "Cache kept."),
    ],
)
def test_the_cache_at_the_end_of_growth(verdict: CacheVerdict, tail: str) -> None:
    assert said(report(cache=verdict)) == [f"· Only growth: 2 messages, +1.9k. {tail}"]


def test_growth_is_not_only_growth_where_a_category_is_not_known() -> None:
    of = opencode()
    assert said(of) == ["· Growth: 2 messages, ≈+1.9k. Cache kept 97 %.", "? Not known: instructions, skills, tools, system"]
    assert witnesses(of) == [
        ("estimated", "estimated: rebuilt from the store: pi branch rules"),
        ("unavailable", "unavailable: OpenCode 1.x does not store it"),
    ]
    assert [s.evidence for s in sentences(of)] == ["estimated", "unavailable"]
    same = opencode(conversation=talk(State.SAME, 0, REBUILT))
    assert said(same)[0] == "· The same messages. Cache kept 97 %."
    # a source that is only on one side where absence proves nothing is no growth alone either
    lost = report(part(SETTINGS, lost=(item(SETTINGS, "thinking", shown="high"),)))
    assert said(lost) == ["· Growth: 2 messages, ≈+1.9k. Cache kept 97 %."]


def test_growth_beside_a_change() -> None:
    assert said(report(part(INSTRUCTIONS, AGENTS))) == ["~ AGENTS.md ≈+1,240", "· Growth: 2 messages, ≈+1.9k. Cache kept 97 %."]


def test_two_notes_are_none_in_full() -> None:
    of = report(part(TOOLS, coverage=MISSING), part(SYSTEM, coverage=replace(MISSING, note="another reason")))
    assert (said(of)[-1], witnesses(of)[-1]) == ("? Not known: tools, system", ("unavailable", "unavailable"))


def test_an_unknown_conversation() -> None:
    of = report(conversation=talk(State.UNAVAILABLE, 0, MISSING))
    assert said(of) == ["? Not known: conversation"]


@pytest.mark.parametrize(
    ("why", "words"),
    [
        (NoBaseline.FIRST_TURN, "it is the first turn"),
        (NoBaseline.FIRST_CAPTURE, "it is the first turn that was captured"),
        (NoBaseline.NOT_CAPTURED, "the turn before was not captured"),
        (NoBaseline.KEY_CHANGED, "the key of the fingerprints changed"),
        (NoBaseline.POINT_CHANGED, "the capture point changed"),
        (NoBaseline.MISSED, "requests between the two were missed"),
        (NoBaseline.EVICTED, "the turn before is no longer kept"),
        (NoBaseline.NOT_RECORDED, "one of the two requests is not recorded"),
    ],
)
def test_no_baseline(why: NoBaseline, words: str) -> None:
    assert said(without_baseline(why)) == [f"○ No comparable baseline: {words}. Cache cold."]


def test_every_reason_for_no_baseline_has_words() -> None:
    for why in NoBaseline:
        assert len(said(without_baseline(why))) == 1


def test_no_baseline_and_a_lost_cache() -> None:
    assert said(without_baseline(NoBaseline.MISSED, LOST)) == [
        "○ No comparable baseline: requests between the two were missed.",
        "○ Cache lost at filesystem_search: 41.3k rewritten",
    ]


def test_one_category_without_baseline() -> None:
    of = report(part(TOOLS, state=State.NO_BASELINE, baseline_why=NoBaseline.POINT_CHANGED))
    assert said(of) == ["· Growth: 2 messages, ≈+1.9k. Cache kept 97 %.", "○ No baseline: tools"]
    assert witnesses(of)[1] == ("unavailable", "the capture point changed")


# the conversation


def rewritten(*causes: Cause, **more: object) -> Report:
    base: dict[str, object] = {"from_message": 30, "removed": 12, "changed": 1, "added": 3}
    return report(conversation=talk(State.REWRITTEN, causes=tuple(causes), **{**base, **more}), talk_tokens=toks(40_000, 35_600))


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (caused(CauseKind.REVERT, mark(MarkKind.REVERT, counts={"turns": 3})), "Reverted 3 turns, from message 31 on"),
        (caused(CauseKind.REVERT, mark(MarkKind.REVERT)), "Reverted, from message 31 on"),
        (caused(CauseKind.FORK, mark(MarkKind.FORK)), "Forked, from message 31 on"),
        (caused(CauseKind.BRANCH, mark(MarkKind.BRANCH, counts={"turns": 1})), "Branched off, 1 turn left behind, from message 31 on"),
        (caused(CauseKind.TRIM), "Trimmed, from message 31 on"),
        (caused(CauseKind.EDIT, mark(MarkKind.EDIT)), "Context edited, from message 31 on"),
        (caused(CauseKind.PRUNE, mark(MarkKind.PRUNE)), "Pruned, from message 31 on"),
        (caused(CauseKind.MODEL_SWITCH, evidence="estimated"), "Rewritten for another model from message 31 on"),
        (caused(CauseKind.REMINDER_MOVED, evidence="estimated"), "A reminder moved, from message 31 on"),
        (caused(CauseKind.NOT_RECORDED, evidence="unavailable"), "History rewritten from message 31 on, cause not recorded"),
    ],
)
def test_causes(cause: Cause, words: str) -> None:
    assert said(rewritten(cause)) == [f"! {words}: 12 messages gone, 1 changed, 3 new, ≈−4.4k"]


def test_what_became_of_the_messages() -> None:
    cause = caused(CauseKind.NOT_RECORDED, evidence="unavailable")
    only = rewritten(cause, removed=0, changed=1, added=0)
    assert said(only) == ["! History rewritten from message 31 on, cause not recorded: 1 message changed, ≈−4.4k"]
    none = rewritten(cause, removed=0, changed=0, added=0)
    assert said(none) == ["! History rewritten from message 31 on, cause not recorded: ≈−4.4k"]


def test_a_cause_that_is_not_recorded_names_how_the_rewriting_is_known() -> None:
    cause = caused(CauseKind.NOT_RECORDED, evidence="unavailable")
    assert witnesses(rewritten(cause)) == [("wire", "wire")]
    rebuilt = sentences(rewritten(cause, coverage=REBUILT))[0]
    assert (rebuilt.witness, rebuilt.evidence) == ("estimated", "estimated")


def test_a_recognised_cause_is_estimated() -> None:
    cause = caused(CauseKind.MODEL_SWITCH, evidence="estimated", how="only reasoning changed")
    assert witnesses(rewritten(cause)) == [("estimated", "estimated: only reasoning changed")]


def test_every_cause_has_words() -> None:
    for kind in CauseKind:
        assert len(said(rewritten(caused(kind)))) == 1


@pytest.mark.parametrize(("reason", "words"), [("manual", " (manual)"), ("overflow", " (overflow)"), (None, ""), ("<b>\x1b", "")])
def test_compactions(reason: str | None, words: str) -> None:
    of = report(conversation=replace(COMPACTED, causes=(caused(CauseKind.COMPACTION, replace(COMPACTION, reason=reason)),)))
    assert said(of) == [f"! Compacted{words}: 184 → 9 messages, −62.9k"]


def test_a_compaction_without_figures_of_its_own_takes_the_counted_ones() -> None:
    gone = Unavailable(Why.NOT_RECORDED, "none")
    done = COMPACTED.compaction
    assert done is not None
    of = report(conversation=replace(COMPACTED, compaction=replace(done, after=gone)), talk_tokens=toks(84_900, 22_000))
    assert said(of) == ["! Compacted (auto): 184 → 9 messages, ≈−62.9k"]
    guessed = report(conversation=replace(COMPACTED, compaction=replace(done, after=Estimated(41_300, "x"))))
    assert said(guessed) == ["! Compacted (auto): 184 → 9 messages, ≈−62.9k"]


@pytest.mark.parametrize(("nth", "words"), [(2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (13, "13th"), (21, "21st"), (112, "112th")])
def test_a_compaction_loop(nth: int, words: str) -> None:
    done = COMPACTED.compaction
    assert done is not None
    of = report(conversation=replace(COMPACTED, compaction=replace(done, nth=nth, loop=True)))
    assert said(of) == [f"! Compaction loop, the {words} (auto): 184 → 9 messages, −62.9k"]


def test_several_causes() -> None:
    revert, prune = caused(CauseKind.REVERT, mark(MarkKind.REVERT)), caused(CauseKind.PRUNE, mark(MarkKind.PRUNE))
    compacted = caused(CauseKind.COMPACTION, COMPACTION)
    done = COMPACTED.compaction
    both = rewritten(compacted, revert, compaction=done)
    assert said(both) == ["! Compacted (auto): 84 → 87 messages, −62.9k; also reverted"]
    assert said(rewritten(revert, prune, prune)) == [
        "! Pruned, from message 31 on: 12 messages gone, 1 changed, 3 new, ≈−4.4k; also reverted"
    ]
    rest = rewritten(compacted, caused(CauseKind.NOT_RECORDED, evidence="unavailable"), compaction=done)
    assert said(rest) == ["! Compacted (auto): 84 → 87 messages, −62.9k; the cause of the rest is not recorded"]


# the cache


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (CacheCode.MODEL, "Cache lost: the model changed, 41.3k rewritten"),
        (CacheCode.COMPACTION, "Cache lost after the compaction: 41.3k rewritten"),
        (CacheCode.TOOLS_REORDERED, "Cache lost: tools reordered, 41.3k rewritten"),
        (CacheCode.IDLE, "Cache lost: idle 12 min, 41.3k rewritten"),
        (CacheCode.UNATTRIBUTED, "Cache lost: cause not recorded, 41.3k rewritten"),
        (CacheCode.HISTORY_REWRITTEN, "Cache lost: the history changed, 41.3k rewritten"),
        (CacheCode.INSTRUCTIONS, "Cache lost: an instruction file changed, 41.3k rewritten"),
    ],
)
def test_causes_of_a_lost_cache(code: CacheCode, words: str) -> None:
    of = report(cache=replace(LOST, cause=CacheCause(code, "confirmed"), idle_ms=720_000))
    assert said(of) == [f"○ {words}", "· Growth: 2 messages, ≈+1.9k."]


def test_every_cause_of_a_lost_cache_has_words() -> None:
    for code in CacheCode:
        for name in (None, Raw("x")):
            first = said(report(cache=replace(LOST, cause=CacheCause(code, "confirmed", name))))[0]
            assert first.startswith("○ Cache lost")
            assert first.endswith("41.3k rewritten")


def test_an_item_is_named_only_where_the_cause_is_an_item() -> None:
    idle = replace(LOST, cause=CacheCause(CacheCode.IDLE, "estimated", Raw("AGENTS.md")), idle_ms=720_000)
    assert said(report(cache=idle))[0] == "○ Cache lost: idle 12 min, 41.3k rewritten"


def test_a_cache_kept_in_part() -> None:
    partial = replace(LOST, verdict=Cache.PARTIAL, r=0.61, rewritten=12_300)
    assert said(report(cache=partial))[0] == "◐ Cache kept 61 %, lost at filesystem_search: 12.3k rewritten"
    model = replace(partial, cause=CacheCause(CacheCode.MODEL, "confirmed"))
    assert said(report(cache=model))[0] == "◐ Cache kept 61 %: the model changed, 12.3k rewritten"
    reverted = replace(partial, cause=CacheCause(CacheCode.REVERT, "confirmed"))
    assert said(report(cache=reverted))[0] == "◐ Cache kept 61 %, lost after the revert: 12.3k rewritten"
    unknown = replace(partial, cause=None, r=None, rewritten=None)
    assert said(report(cache=unknown))[0] == "◐ Cache kept in part"


def test_a_cold_cache_has_a_sentence_where_it_has_a_cause() -> None:
    cold = replace(LOST, verdict=Cache.COLD, cause=CacheCause(CacheCode.IDLE, "estimated"), idle_ms=3 * 3_600_000)
    assert said(report(cache=cold))[0] == "◌ Cache cold: idle 3 h, 41.3k rewritten"


def test_volatile_and_flapping_items_of_a_lost_cache() -> None:
    for code, words in (
        (CacheCode.VOLATILE_BLOCK, "block:2, which differs in each turn"),
        (CacheCode.FLAPPING, "block:2, which comes and goes"),
    ):
        of = report(cache=replace(LOST, cause=CacheCause(code, "confirmed", Raw("block:2"), explained=True)))
        assert said(of)[0] == f"○ Cache lost at {words}: 41.3k rewritten"


def test_the_witness_of_a_cache_verdict() -> None:
    guessed = replace(LOST, evidence="estimated", how="from usage alone")
    one = sentences(report(cache=guessed))[0]
    assert (one.witness, one.source, one.evidence) == ("estimated", "estimated: from usage alone", "estimated")
    assert one.number == Estimated(41_300, "from usage alone")
    alone = replace(LOST, cause=CacheCause(CacheCode.IDLE, "estimated"))
    assert witnesses(report(cache=alone))[0] == ("estimated", "provider usage, cause estimated")
    first = sentences(report(cache=alone))[0]
    assert (first.evidence, first.number) == ("estimated", Confirmed(41_300))
    assert [s.text for s in first.spans if s.italic] == ["idle"]
    assert witnesses(report(cache=replace(LOST, cause=None)))[0] == ("provider", "provider usage")
    assert witnesses(opencode(cache=replace(LOST, cause=CacheCause(CacheCode.MODEL, "confirmed"))))[0][0] == "store + provider"


# items


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (added(SKILLS, "testing", 310), "+ testing ≈+310"),
        (removed(TOOLS, "example_delete", 60), "- example_delete ≈−60"),
        (AGENTS, "~ AGENTS.md ≈+1,240"),
        (modified(INSTRUCTIONS, "/etc/AGENTS.md", 5, 5), "~ /etc/AGENTS.md"),
        (modified(TOOLS, "read", 60, 80, parts=("description", "schema")), "~ read description, schema ≈+20"),
        (change(TOOLS, ChangeKind.MOVED, "a", moved=(Raw("a"), Raw("b"))), "⇄ 2 tools reordered"),
        (change(SYSTEM, ChangeKind.MOVED, "a", moved=(Raw("a"), Raw("b"))), "⇄ 2 items reordered"),
        (change(TOOLS, ChangeKind.MOVED, "a", moved=(Raw("a"),)), "⇄ a moved"),
        (change(SKILLS, ChangeKind.RENAMED, "new", 5, 5, from_k=Raw("old")), "→ old → new"),
        (setting("model", "acme/big", "acme/fast"), "~ model acme/big → acme/fast"),
        (setting("thinking", None, "high"), "+ thinking high"),
        (setting("thinking", "high", None), "- thinking high"),
        (modified(SYSTEM, "block:2", 5, 5, flags=(Flag.VOLATILE,)), "≋ block:2 differs in each turn at equal size"),
        (modified(SYSTEM, "a.md", 5, 9, flags=(Flag.FLAPPING, Flag.VOLATILE)), "≋ a.md is again as it was before"),
    ],
)
def test_items(one: Change, words: str) -> None:
    some = one.before or one.after
    category = some.category if some is not None else TOOLS if "tools" in words else SYSTEM
    assert said(report(part(category, one)))[0] == words


def test_many_items() -> None:
    tools = [modified(TOOLS, f"t{i}", 10, 12) for i in range(5)]
    assert said(report(part(TOOLS, *tools)))[0] == "~ t0 ≈+2 · t1 ≈+2 · t2 ≈+2 · 2 more"
    mixed = report(part(INSTRUCTIONS, AGENTS), part(TOOLS, removed(TOOLS, "x", 60), modified(TOOLS, "y", 5, 5, flags=(Flag.FLAPPING,))))
    assert said(mixed)[0] == "± ~ AGENTS.md ≈+1,240 · - x ≈−60 · ~ y (flapping)"


def test_what_follows_from_another_change_is_not_told_beside_it() -> None:
    model, line = setting("model", "big", "fast"), modified(SYSTEM, "environment", 90, 91, follows="model")
    assert said(report(part(SETTINGS, model), part(SYSTEM, line)))[0] == "~ model big → fast"
    assert said(report(part(SYSTEM, line)))[0] == "~ environment ≈+1"


def test_one_estimated_change_makes_the_sentence_estimated() -> None:
    guess = modified(TOOLS, "read", 60, 80, evidence="estimated", how="compared by name")
    one = sentences(report(part(INSTRUCTIONS, AGENTS), part(TOOLS, guess)))[0]
    assert (one.witness, one.source, one.evidence) == ("estimated", "estimated: compared by name", "estimated")


def test_a_record_of_the_store_is_a_witness() -> None:
    of = report(part(INSTRUCTIONS, AGENTS, coverage=REBUILT), point="store", conversation=talk(coverage=REBUILT))
    assert [s.witness for s in sentences(of)] == ["store row", "estimated"]


def test_at_most_three() -> None:
    of = replace(opencode(part(SETTINGS, setting("model", "a", "b")), conversation=COMPACTED, cache=LOST))
    assert len(sentences(of)) == MOST
    assert said(of)[-1] == "~ model a → b"


def test_names_are_harmless_and_marked() -> None:
    for text in HOSTILE.values():
        raw = Raw(text or "x")
        changes = modified(INSTRUCTIONS, raw, 1, 2), setting("model", raw, raw), change(SKILLS, ChangeKind.RENAMED, raw, 1, 1, from_k=raw)
        lost = replace(LOST, cause=CacheCause(CacheCode.SKILLS, "confirmed", raw, explained=True))
        compacted = replace(COMPACTED, causes=(caused(CauseKind.COMPACTION, replace(COMPACTION, reason=raw)),))
        of = report(
            part(INSTRUCTIONS, changes[0]), part(SKILLS, changes[2]), part(SETTINGS, changes[1]), conversation=compacted, cache=lost
        )
        for sentence in sentences(of):
            assert "\x1b" not in sentence.text
            assert sentence.names or sentence.category is Category.CONVERSATION  # a reason that is not known is not written
            own_words = "".join(s.text for i, s in enumerate(sentence.spans) if i not in sentence.names)
            assert "evil" not in own_words
            assert "alert" not in own_words


def test_a_key_in_a_name_is_redacted() -> None:
    key = "sk-ant-api03-" + "Ab1" * 12
    of = report(part(SKILLS, added(SKILLS, f"x {key}", 5)))
    assert said(of)[0] == "+ x [redacted:anthropic-key] ≈+5"
    assert sentences(of, lambda raw: raw)[0].text == f"+ x {key} ≈+5"  # type: ignore[arg-type,return-value]
