"""Each target over the same hostile texts (docs/field-reports.md, 40)."""

import json
import re
import shlex
import unicodedata
from xml.etree import ElementTree

import pytest
from ctx_inspect.core.text import show

from tests.core.text.hostile import HOSTILE, PLAIN

EVERY = pytest.mark.parametrize("text", [pytest.param(t, id=n) for n, t in {**HOSTILE, **PLAIN}.items()])
# Written apart from the code: what no terminal may get.
ACTS = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\ue000-\uf8ff\U000e0000-\U0010ffff]"
)

# Planes 0 and 1, the tags and selectors, and the edges of what is private: all that differs in kind.
SAMPLE = "".join(map(chr, (*range(0x20000), *range(0xDFFF0, 0xE0210), *range(0xEFFF0, 0xF0010), *range(0x10FFF0, 0x110000))))


def inert(text: str) -> bool:
    return ACTS.search(text) is None and all(unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") for c in text)


def test_the_set_is_hostile() -> None:
    assert sum(ACTS.search(t) is not None for t in HOSTILE.values()) >= 35
    assert all(ACTS.search(t) is None for t in PLAIN.values())


@EVERY
def test_terminal(text: str) -> None:
    shown = show.terminal(text)
    assert inert(shown)
    shown.encode("utf-8")


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert show.terminal(text) == text
    assert show.lines(text) == [text]


@EVERY
def test_nothing_vanishes_but_an_emoji_selector(text: str) -> None:
    kept = re.sub("(?<=[❤⚠])\ufe0f|(?<=1)\ufe0f", "", text)
    back = re.sub("‹([0-9A-F]{4,6})›", lambda m: chr(int(m[1], 16)), show.terminal(text))
    assert "".join(chr(ord(c) - 0x2400) if "\u2400" <= c < "\u2420" else "\x7f" if c == "␡" else c for c in back) == kept


def test_what_it_looks_like() -> None:
    assert show.terminal("\x1b[2Ja\x7f\x9b\u202e\u200b\U000e0041") == "␛[2Ja␡‹009B›‹202E›‹200B›‹E0041›"
    assert show.terminal("👍🏽🇩🇪") == "👍‹1F3FD›‹1F1E9›‹1F1EA›"
    assert show.terminal("❤️ 1️⃣") == "❤ 1⃣"
    assert show.terminal("a\ufe0f") == "a‹FE0F›"
    assert show.terminal("\u0301a" + "\u0301" * 6) == "‹0301›a" + "\u0301" * 4 + "‹0301›‹0301›"


def test_a_limit_counts_what_came_in() -> None:
    assert show.terminal("abcdef", 3) == "abc…"
    assert show.terminal("abc", 3) == "abc"
    assert show.terminal("\x1b" * 4, 2) == "␛␛…"


def test_every_code_point_alone_is_inert() -> None:
    assert inert(show.terminal(SAMPLE))
    assert all(show.terminal(chr(point)) for point in range(0x3000))


@EVERY
def test_lines(text: str) -> None:
    shown = show.lines(text)
    assert len(shown) == text.count("\n") + 1
    assert all(inert(line) for line in shown)


def test_lines_end_at_lf_only() -> None:
    assert show.lines("a\u2028b\x85c\x0cd\r\ne\n") == ["a‹2028›b‹0085›c␌d␍", "e", ""]
    assert show.lines("\tx\n a\tb") == ["    x", " a  b"]
    assert show.lines("ab\ncd", 4) == ["ab", "c…"]


@EVERY
def test_json(text: str) -> None:
    document = show.json_escaped(json.dumps({"k": text, text: [1, None, True]}, ensure_ascii=False))
    assert inert(document)
    document.encode("utf-8")
    assert json.loads(document) == {"k": text, text: [1, None, True]}


def test_json_of_every_code_point() -> None:
    document = show.json_escaped(json.dumps(SAMPLE, ensure_ascii=False))
    assert inert(document)
    # a high surrogate right before a low one is one character to JSON; the set holds them in ascending order once
    assert json.loads(document) == SAMPLE.replace("\udbff\udc00", "\U0010fc00")


def test_json_keeps_words_readable() -> None:
    assert show.json_escaped('["重构 café é"]') == '["重构 café é"]'


@EVERY
def test_xml(text: str) -> None:
    safe = show.xml(text)
    assert inert(safe)
    element = ElementTree.fromstring(f"<svg a=\"{safe}\" b='{safe}'><text>{safe}</text></svg>")
    assert element.attrib == {"a": show.terminal(text), "b": show.terminal(text)}
    assert [child.tag for child in element] == ["text"]
    assert (element[0].text or "") == show.terminal(text)
    assert len(element[0]) == 0


@EVERY
def test_markdown(text: str) -> None:
    span = show.markdown(text)
    assert inert(span)
    assert "\n" not in span
    fence = re.match("`+", span)
    assert fence
    inside = span[len(fence[0]) : -len(fence[0])]
    assert span.endswith(fence[0])
    assert fence[0] not in re.findall("`+", inside)
    shown = show.terminal(text) or " "
    assert inside in (shown, f" {shown} ")
    assert "|" not in re.sub(r"\\\|", "", show.markdown(text, table=True))


def test_markdown_by_a_real_parser() -> None:
    markdown_it = pytest.importorskip("markdown_it")
    for text in HOSTILE.values():
        tokens = markdown_it.MarkdownIt("commonmark", {"html": True}).parse("x " + show.markdown(text) + " y")
        kinds = [child.type for token in tokens for child in token.children or ()]
        assert kinds == ["text", "code_inline", "text"], text


@EVERY
def test_clipboard(text: str) -> None:
    assert inert(show.clipboard(text))


@EVERY
def test_command(text: str) -> None:
    line = show.command("ctx-inspect", "show", text)
    assert inert(line)
    assert shlex.split(line) == ["ctx-inspect", "show", show.terminal(text)]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_markup_is_inert_where_it_is_drawn(text: str) -> None:
    from rich.console import Console
    from textual.content import Content

    shown = show.terminal(text)
    assert Content(shown).plain == shown
    assert Content(shown).spans == []
    console = Console(width=4000, color_system=None)
    with console.capture() as capture:
        console.print(shown, markup=False, emoji=False, highlight=False, end="")
    assert capture.get().rstrip() == shown.rstrip()


@pytest.mark.timeout(60)
def test_long_texts_are_linear() -> None:
    """A quadratic rule would take hours."""
    for text in ("a" * 5_000_000, "é" * 500_000, "\x1b" * 500_000, "z" + "\u0301" * 500_000, "重构" * 250_000):
        assert len(show.terminal(text)) >= len(text)
        assert len(show.json_escaped(text)) >= len(text)
