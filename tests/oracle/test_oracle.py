"""The oracle on bodies small enough to be judged by eye, and that it knows nothing of what it judges."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.oracle import Differences, Talk, compare, read

PRODUCT = "ctx_inspect"


def imported(source: str) -> Iterator[str]:
    """Yield what a module imports, and every text in it that could be handed to an import that is made while it runs."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom():
                yield "." * node.level + (node.module or "")
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            case ast.Constant(value=str(text)) if " " not in text:
                yield text
            case _:
                pass


def foreign(source: str) -> list[str]:
    """Return what of it is the product, by name or by the folders it lies in."""
    tops = (PRODUCT, "core", "app", "widgets")
    return [name for name in imported(source) if name.partition(".")[0] in tops or PRODUCT in name]


@pytest.mark.parametrize(
    "path", sorted(p for p in Path(__file__).parent.glob("*.py") if p.name != Path(__file__).name), ids=lambda p: p.name
)
def test_the_oracle_imports_nothing_of_the_product(path: Path) -> None:
    source = path.read_text("utf-8")
    assert foreign(source) == []
    allowed = ("tests.oracle", "__future__", "collections", "dataclasses", "html", "json", "re", "typing")
    imports = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Import | ast.ImportFrom)]
    names = [a.name for n in imports if isinstance(n, ast.Import) for a in n.names] + [
        n.module or "." for n in imports if isinstance(n, ast.ImportFrom)
    ]
    assert [n for n in names if not n.startswith(allowed)] == []


@pytest.mark.parametrize(
    "line",
    [
        "import ctx_inspect",
        "import ctx_inspect.core.diff as d",
        "from ctx_inspect.core import model",
        "from core.diff import items",
        "def f():\n    from ctx_inspect import core",
        "import importlib\nimportlib.import_module('ctx_inspect.core')",
        "__import__('ctx_inspect')",
    ],
)
def test_an_import_of_the_product_would_be_seen(line: str) -> None:
    assert foreign(line)


# -- Pi, chat completions --------------------------------------------------------------------------------------------

PROMPT = "You are a helper.\n\n<tools>\n- read\n</tools>\n\n{files}\n\n{skills}\n\n<cwd>\n/x\n</cwd>"


def files(**texts: str) -> str:
    inner = "\n\n".join(f'<project_instructions path="/x/{name}.md">\n{text}\n\n</project_instructions>' for name, text in texts.items())
    return f"<project_context>\nProject rules:\n\n{inner}\n</project_context>"


def skills(*names: str) -> str:
    inner = "\n".join(f"  <skill>\n    <name>{n}</name>\n    <location>/x/{n}</location>\n  </skill>" for n in names)
    return f"<skills>\nLoad them.\n\n<available_skills>\n{inner}\n</available_skills>\n</skills>"


def prompt(f: str, s: str) -> str:
    return PROMPT.format(files=f, skills=s)


def function(name: str, description: str = "d", **properties: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": {"type": "object", "properties": properties}},
    }


def chat(*messages: tuple[str, str], system: str = "", tools: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    rows: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    rows += [{"role": role, "content": text} for role, text in messages]
    return {"model": "m", "messages": rows, "tools": tools or [], **more}


def differ(
    a: dict[str, Any], b: dict[str, Any], harness: str = "pi", paths: tuple[str, str] = ("/v1/chat/completions",) * 2
) -> Differences:
    return compare(read(a, paths[0], harness), read(b, paths[1], harness))


HELLO = ("user", "hello")


def test_a_body_does_not_differ_from_itself() -> None:
    body = chat(HELLO, system=prompt(files(A="one"), skills("s")), tools=[function("read")], reasoning_effort="low")
    assert differ(body, body) == Differences()


def test_pi_sections_are_taken_apart() -> None:
    seen = read(chat(HELLO, system=prompt(files(A="one\n\n<b>\nx\n</b>", B="two"), skills("s", "t"))), "/v1/chat/completions", "pi").prompt
    assert seen.files == {"/x/A.md": "one\n\n<b>\nx\n</b>\n", "/x/B.md": "two\n"}
    assert list(seen.skills) == ["s", "t"]
    assert list(seen.rest) == ["preamble", "tools", "project_context", "skills", "cwd"]


def test_what_comes_goes_changes_and_is_renamed() -> None:
    old = chat(HELLO, system=prompt(files(A="one", B="two", C="three"), skills("s")))
    new = chat(HELLO, system=prompt(files(A="one!", C="three", D="two"), skills("t", "s")))
    found = differ(old, new)
    assert found.instructions == {("modified", "/x/A.md"), ("renamed", "/x/D.md")}
    assert found.skills == {("added", "t")}
    assert (found.system, found.order) == (frozenset(), frozenset())


def test_another_order_is_told_and_nothing_else() -> None:
    old = chat(HELLO, system=prompt(files(A="1", B="2"), skills("s")), tools=[function("a"), function("b")])
    new = chat(HELLO, system=prompt(files(B="2", A="1"), skills("s")), tools=[function("b"), function("a")])
    assert differ(old, new) == Differences(order=frozenset({"instructions", "tools"}))


def test_a_tool_tells_which_part_differs() -> None:
    old = chat(HELLO, tools=[function("a"), function("b"), function("c", q={"type": "string"}), function("gone")])
    new = chat(HELLO, tools=[function("a", "e"), function("b", q=1), function("c", "e", q={"type": "number"}), function("new")])
    assert differ(old, new).tools == {
        ("description", "a"),
        ("schema", "b"),
        ("description schema", "c"),
        ("added", "new"),
        ("removed", "gone"),
    }


def test_patches_within_the_conversation_are_folded() -> None:
    base = prompt(files(A="one"), skills("s"))
    old = chat(HELLO, system=base, tools=[function("a")])
    patch = f'Updated system prompt section "project_context":\n\n{files(A="two")}\n\nRemoved system prompt section "skills".'
    new = chat(HELLO, ("system", patch), ("user", "more"), system=base, tools=[function("a")])
    new["messages"].insert(2, {"role": "system", "tools": [function("late")]})
    found = differ(old, new)
    assert found.instructions == {("modified", "/x/A.md")}
    assert found.skills == {("removed", "s")}
    assert found.tools == {("added", "late")}
    assert found.system == {("removed", "skills")}
    assert found.talk == Talk("growth")


def test_a_file_that_quotes_a_patch_stays_a_file() -> None:
    quoted = 'see\n\nUpdated system prompt section "skills":\n\nnothing'
    base = prompt(files(A="one"), skills("s"))
    patch = f'Updated system prompt section "project_context":\n\n{files(A=quoted)}'
    found = differ(chat(HELLO, system=base), chat(HELLO, ("system", patch), system=base))
    assert (found.instructions, found.skills) == ({("modified", "/x/A.md")}, frozenset())


def test_settings_are_told_apart() -> None:
    found = differ(chat(HELLO, reasoning_effort="low", top_p=1), chat(HELLO, reasoning_effort="high", top_p=0.5))
    assert (found.settings, found.other) == ({("modified", "thinking")}, {"top_p"})
    asked = {"type": "enabled", "budget_tokens": 8192}
    other = {
        "model": "n",
        "max_tokens": 16000,
        "thinking": asked,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
    }
    found = differ(chat(HELLO, reasoning_effort="medium"), other, paths=("/v1/chat/completions", "/v1/messages?beta=true"))
    assert found.settings == {("modified", "model"), ("modified", "provider")}
    assert found.talk == Talk("same", dialects=True)
    other["thinking"] = {"type": "enabled", "budget_tokens": 14976}
    assert read(other, "/v1/messages", "pi").thinking == "high"


def test_a_prompt_of_an_older_pi() -> None:
    text = "You.\n\n# Project Context\n\nRules:\n\n## /x/AGENTS.md\n\n# title\none\n\n\nCurrent date: 2026-01-01"
    seen = read(chat(HELLO, system=text), "/v1/chat/completions", "pi").prompt
    assert seen.files == {"/x/AGENTS.md": "# title\none"}


# -- conversations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "talk"),
    [
        ("ab", "ab", Talk("same")),
        ("ab", "abcd", Talk("growth")),
        ("", "a", Talk("growth")),
        ("abc", "ab", Talk("rewritten", 2)),
        ("abcd", "axcd", Talk("rewritten", 1)),
        ("abcd", "dabc", Talk("rewritten", 0)),
    ],
)
def test_talk(old: str, new: str, talk: Talk) -> None:
    a, b = (chat(*(("user", c) for c in text)) for text in (old, new))
    assert differ(a, b).talk == talk


def test_a_result_is_told_by_what_it_says_and_a_call_by_what_it_asks() -> None:
    def body(argument: str, result: str, id: str) -> dict[str, Any]:
        call = {"id": id, "type": "function", "function": {"name": "bash", "arguments": argument}}
        return chat(HELLO) | {
            "messages": [
                {"role": "user", "content": "hello"},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": id, "content": result},
            ]
        }

    assert differ(body('{"a": 1, "b": 2}', "r", "1"), body('{"b":2,"a":1}', "r", "2")).talk == Talk("same")
    assert differ(body('{"a": 1}', "r", "1"), body('{"a": 2}', "r", "1")).talk == Talk("rewritten", 1)
    assert differ(body('{"a": 1}', "r", "1"), body('{"a": 1}', "s", "1")).talk == Talk("rewritten", 2)


def test_three_dialects_say_the_same() -> None:
    completions = {
        "model": "m",
        "messages": [
            {"role": "user", "content": "hello"},
            {
                "role": "assistant",
                "content": "yes",
                "reasoning_content": "hm",
                "tool_calls": [{"id": "1", "function": {"name": "t", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "1", "content": "out"},
            {"role": "user", "content": "more"},
        ],
    }
    anthropic = {
        "model": "m",
        "max_tokens": 9,
        "messages": [
            {"role": "user", "content": "hello"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "text", "text": "yes"},
                    {"type": "tool_use", "id": "1", "name": "t", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "out"}]},
                    {"type": "text", "text": "more"},
                ],
            },
        ],
    }
    responses = {
        "model": "m",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "hello"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yes"}]},
            {"type": "function_call", "call_id": "1", "name": "t", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": "out"},
            {"role": "user", "content": [{"type": "input_text", "text": "more"}]},
        ],
    }
    a = read(completions, "/v1/chat/completions", "pi").rows
    assert read(anthropic, "/v1/messages", "pi").rows == a
    assert [(r.role, r.texts, r.calls) for r in read(responses, "/v1/responses", "pi").rows] == [(r.role, r.texts, r.calls) for r in a]


# -- OpenCode -----------------------------------------------------------------------------------------------------------


def opencode(rules: str, *names: str, server: str = "", tail: str = "") -> dict[str, Any]:
    block = f'<mcp_instructions>\n  <server name="mini">\n    {server}\n  </server>\n</mcp_instructions>\n' if server else ""
    listed = "\n".join(f"  <skill>\n    <name>{n}</name>\n  </skill>" for n in names)
    text = (
        f"You.\n<env>\n  x\n</env>\nInstructions from: /x/AGENTS.md\n{rules}\n\n{block}"
        f"Skills provide specialized instructions and workflows for specific tasks.\n<available_skills>\n{listed}\n</available_skills>{tail}"
    )
    return chat(HELLO, system=text)


def test_opencode_prompts_are_taken_apart() -> None:
    old = opencode("one", "a")
    assert differ(old, opencode("two", "a"), "opencode").instructions == {("modified", "/x/AGENTS.md")}
    assert differ(old, opencode("one", "a", "b"), "opencode").skills == {("added", "b")}
    assert differ(old, opencode("one", "a", server="care"), "opencode") == Differences(system=frozenset({("added", "server mini")}))
    assert differ(old, opencode("one", "a", tail="\nmore"), "opencode") == Differences(system=frozenset({("modified", "prompt")}))
