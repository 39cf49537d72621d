"""System prompt, instruction files, skills and tools as Pi 0.86 and later record them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ctx_inspect.core.model import Category, MarkKind, Unavailable, Why
from ctx_inspect.core.sources.pi.system import split_instructions, split_skills

from tests.builders.pi import PiStore, project_context, sections, skills_section, tool
from tests.core.sources.pi.reading import context_of, items, opened, source_of, text

AGENTS = {"/home/ann/AGENTS.md": "Be brief.\n", "/home/ann/shop/AGENTS.md": "# Regeln\n- 用中文\n"}
SKILLS = {"alpha": ("First & best", "/s/alpha/SKILL.md"), "beta": ("Second", "/s/beta/SKILL.md")}


@pytest.fixture
def store(tmp_path: Path) -> PiStore:
    return PiStore(tmp_path)


def test_every_source_is_an_item_with_its_path_and_text(store: PiStore) -> None:
    s = store.session()
    s.system(
        sections(instructions=AGENTS, skills=SKILLS, driver="extra"), tools=[tool("read", "Reads a file", path="string"), tool("bash")]
    )
    one = s.turn("go")
    ledger, source = opened(s), source_of(s)
    context = context_of(ledger, one[1])
    files = items(context, Category.INSTRUCTIONS)
    assert {k: text(source, i.ref) for k, i in files.items()} == AGENTS
    assert [i.origin.path for i in files.values()] == list(AGENTS)
    skills = items(context, Category.SKILLS)
    assert {k: i.origin.path for k, i in skills.items()} == {"alpha": "/s/alpha/SKILL.md", "beta": "/s/beta/SKILL.md"}
    assert all(i.listed for i in skills.values())
    tools = items(context, Category.TOOLS)
    assert list(tools) == ["read", "bash"]
    declared = json.loads(text(source, tools["read"].ref))
    assert (declared["name"], declared["description"]) == ("read", "Reads a file")
    assert declared["parameters"]["properties"] == {"path": {"type": "string"}}
    assert [a for a, _ in tools["read"].aspects] == ["description", "schema"]
    system = items(context, Category.SYSTEM)
    assert list(system) == ["preamble", "rules", "project_context", "skills", "cwd", "driver"]
    assert (system["driver"].origin.kind, system["preamble"].origin.kind) == ("extension", "harness")
    assert {k: i.shown for k, i in items(context, Category.SETTINGS).items()} == {
        "provider": "acme",
        "model": "large",
        "thinking": "medium",
    }
    for item in context.items:
        if item.ref is not None:
            assert item.size == len(text(source, item.ref).encode()), item.k
    whole = sum(len(v.encode()) for v in sections(instructions=AGENTS, skills=SKILLS, driver="extra").values() if v)
    assert sum(i.size or 0 for i in context.items if i.category in (Category.SYSTEM, Category.INSTRUCTIONS, Category.SKILLS)) == whole


def test_patches_change_what_they_name_and_nothing_else(store: PiStore) -> None:
    s = store.session()
    s.system(sections(instructions=AGENTS, skills=SKILLS), tools=[tool("read"), tool("bash")])
    one, same = s.turn("one"), s.turn("same")
    changed = AGENTS | {"/home/ann/AGENTS.md": "Be verbose.\n"}
    s.system({"project_context": project_context(changed)})
    two = s.turn("two")
    s.system({"skills": None}, tools=[tool("late")], removed=["bash"])
    three = s.turn("three")
    s.system(tools=[tool("read", "Reads better")], removed=["read"])
    four = s.turn("four")
    ledger, source = opened(s), source_of(s)
    a, b, c, d = (context_of(ledger, t[1]) for t in (one, two, three, four))
    assert context_of(ledger, same[1]).items is a.items
    changed_keys = [x.k for x, y in zip(a.items, b.items, strict=True) if x.fp != y.fp]
    assert changed_keys == ["/home/ann/AGENTS.md"]
    assert text(source, items(b, Category.INSTRUCTIONS)["/home/ann/AGENTS.md"].ref) == "Be verbose.\n"
    assert text(source, items(a, Category.INSTRUCTIONS)["/home/ann/AGENTS.md"].ref) == "Be brief.\n"
    assert items(c, Category.SKILLS) == {}
    assert list(items(c, Category.TOOLS)) == ["read", "late"]
    assert list(items(d, Category.TOOLS)) == ["late", "read"]
    old, new = items(c, Category.TOOLS)["read"], items(d, Category.TOOLS)["read"]
    assert dict(old.aspects)["description"] != dict(new.aspects)["description"]
    assert dict(old.aspects)["schema"] == dict(new.aspects)["schema"]
    assert [(m.turn, m.after, m.detail) for m in ledger.marks if m.kind is MarkKind.SYSTEM] == [
        (2, same[1], "project_context"),
        (3, two[1], "skills, +late, −bash"),
        (4, three[1], "+read, −read"),
    ]


def test_how_well_it_is_known(store: PiStore) -> None:
    s = store.session()
    s.system(sections())
    one = s.turn("one")
    coverage = context_of(opened(s), one[1]).coverage
    assert {c.grade for c in coverage.values()} == {"estimated"}
    assert coverage[Category.TOOLS].how == "rebuilt from the store: pi branch rules"
    assert coverage[Category.TOOLS].all
    assert not coverage[Category.SETTINGS].all


def test_before_0_86_prompt_and_tools_are_unavailable_with_the_reason(store: PiStore) -> None:
    s = store.session(old=True)
    one = s.turn("one")
    ledger = opened(s)
    context = context_of(ledger, one[1])
    for category in (Category.INSTRUCTIONS, Category.SKILLS, Category.TOOLS, Category.SYSTEM):
        coverage = context.coverage[category]
        assert (coverage.grade, coverage.why, coverage.note) == (
            "unavailable",
            Why.NOT_RECORDED,
            "Pi before 0.86 does not record system prompt and tools",
        )
        assert items(context, category) == {}
    assert context.coverage[Category.CONVERSATION].grade == "estimated"
    assert {k: i.shown for k, i in items(context, Category.SETTINGS).items()} == {
        "provider": "acme",
        "model": "large",
        "thinking": "medium",
    }
    assert ("system prompt and tools", "Pi before 0.86 does not record system prompt and tools") in ledger.not_recorded


def test_an_older_pi_in_a_newer_file_sends_a_prompt_of_its_own(store: PiStore) -> None:
    s = store.session()
    s.system(sections(instructions=AGENTS), tools=[tool("read")])
    one = s.turn("written by 1.6")
    s.old = True
    two = s.turn("written by 0.74")
    s.old = False
    three = s.turn("written by 1.6 again")
    ledger = opened(s)
    assert context_of(ledger, one[1]).coverage[Category.SYSTEM].grade == "estimated"
    old = context_of(ledger, two[1])
    assert old.coverage[Category.SYSTEM].grade == "unavailable"
    assert "older Pi" in (old.coverage[Category.SYSTEM].note or "")
    assert items(old, Category.TOOLS) == {}
    assert items(context_of(ledger, three[1]), Category.TOOLS).keys() == {"read"}


def test_a_newer_pi_in_an_older_file_records_from_then_on(store: PiStore) -> None:
    s = store.session(old=True)
    one = s.turn("by 0.74")
    s.old = False
    s.system(sections(), tools=[tool("read")])
    two = s.turn("by 1.6")
    ledger = opened(s)
    assert context_of(ledger, one[1]).coverage[Category.TOOLS].grade == "unavailable"
    assert context_of(ledger, two[1]).coverage[Category.TOOLS].grade == "estimated"
    assert not any(what == "system prompt and tools" for what, _ in ledger.not_recorded)


def test_a_compaction_starts_the_prompt_over(store: PiStore) -> None:
    s = store.session()
    s.system(sections(instructions=AGENTS), tools=[tool("read"), tool("bash")])
    one = s.turn("one")
    s.compaction("past", kept=one[0], system={"sections": sections(), "toolsAdded": [tool("read")]})
    two = s.turn("two")
    bare = s.compaction("past again", kept=two[0])
    three = s.turn("three")
    ledger, source = opened(s), source_of(s)
    after = context_of(ledger, two[1])
    assert list(items(after, Category.TOOLS)) == ["read"]
    assert items(after, Category.INSTRUCTIONS) == {}
    assert text(source, items(after, Category.SYSTEM)["preamble"].ref) == "You help with code."
    assert context_of(ledger, three[1]).coverage[Category.SYSTEM].grade == "unavailable"
    assert bare in {m.refs.get("summary") for m in ledger.marks}


def test_an_edit_can_take_a_patch_out(store: PiStore) -> None:
    s = store.session()
    s.system(sections(), tools=[tool("read")])
    s.turn("one")
    patch = s.system(tools=[tool("late")])
    two = s.turn("two")
    s.context_edit(patch, None)
    three = s.turn("three")
    ledger = opened(s)
    assert list(items(context_of(ledger, two[1]), Category.TOOLS)) == ["read", "late"]
    assert list(items(context_of(ledger, three[1]), Category.TOOLS)) == ["read"]


def test_branches_have_the_prompt_of_their_own_path(store: PiStore) -> None:
    s = store.session()
    s.system(sections(), tools=[tool("read")])
    one = s.turn("one")
    s.system(tools=[tool("late")])
    left = s.turn("left")
    s.go(one[-1])
    new = s.turn("new")
    ledger = opened(s)
    assert list(items(context_of(ledger, left[1]), Category.TOOLS)) == ["read", "late"]
    assert list(items(context_of(ledger, new[1]), Category.TOOLS)) == ["read"]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"/a": ""},
        {"/a": "x"},
        {"/a": 'talks of </project_instructions> and <project_instructions path="no"> inline\n', "/b": "y\n\n"},
        {"/with space/ü.md": "z", "/c": "\n"},
    ],
)
def test_instruction_files_split_without_loss(files: dict[str, str]) -> None:
    section = project_context(files)
    rest, found = split_instructions(section)
    assert dict(found) == files
    assert len(rest) + sum(map(len, files.values())) == len(section)


def test_skills_split_without_loss() -> None:
    section = skills_section({"a&amp;b": ("d", "/p"), "c": ("e", "/q")})
    rest, found = split_skills(section)
    assert [(name, path) for name, path, _ in found] == [("a&b", "/p"), ("c", "/q")]
    assert len(rest) + sum(len(block) for _, _, block in found) == len(section)


def test_a_text_of_a_lost_entry_is_unavailable(store: PiStore) -> None:
    s = store.session()
    s.system(sections(), tools=[tool("read")])
    one = s.turn("one")
    ledger, source = opened(s), source_of(s)
    item = items(context_of(ledger, one[1]), Category.TOOLS)["read"]
    s.path.unlink()
    assert item.ref is not None
    known = source.text(item.ref, 10)
    assert isinstance(known, Unavailable)
    assert known.why is Why.GONE


def test_a_file_or_skill_more_or_less_leaves_the_rest_of_its_section_as_it_was(store: PiStore) -> None:
    """Their tags, paths and line breaks stand in the section; an item of its own is one change, not two."""
    s = store.session()
    s.system(sections(instructions=AGENTS, skills=SKILLS))
    one = s.turn("one")
    more = {"/etc/AGENTS.md": "Ask first.\n", **AGENTS}
    s.system({"project_context": project_context(more), "skills": skills_section({"gamma": ("Third", "/s/c"), **SKILLS})})
    two = s.turn("two")
    other = skills_section(SKILLS).replace("<available_skills>", "Mind the gap.\n<available_skills>")
    s.system({"project_context": project_context(AGENTS), "skills": other})
    three = s.turn("three")
    ledger = opened(s)
    rest = [items(context_of(ledger, ids[1]), Category.SYSTEM) for ids in (one, two, three)]
    for name in ("project_context", "skills"):
        assert rest[0][name].fp == rest[1][name].fp
    assert rest[2]["project_context"].fp == rest[0]["project_context"].fp
    assert rest[2]["skills"].fp != rest[0]["skills"].fp
