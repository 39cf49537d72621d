from __future__ import annotations

import pytest
from ctx_inspect.core.model import Category
from ctx_inspect.core.text.width import cells
from ctx_inspect.core.views import glyphs
from ctx_inspect.core.views.glyphs import ascii_twin, fill_of, meter, needs_ascii


def test_every_sign_has_a_twin_of_one_cell() -> None:
    assert len(glyphs._SIGNS) == len(glyphs._TWINS)
    for sign in glyphs._SIGNS:
        assert cells(sign) == 1
        twin = ascii_twin(sign)
        assert twin.isascii()
        assert twin.isprintable()
        assert len(twin) == 1


def test_the_known_widths_are_the_widths_that_the_library_tells() -> None:
    from wcwidth import wcwidth

    assert {sign: wcwidth(sign) for sign in glyphs._SIGNS} == dict.fromkeys(glyphs._SIGNS, 1)


def test_rails_are_told_apart_in_ascii_too() -> None:
    twins = [ascii_twin(rail.value) for rail in glyphs.Rail]
    assert len(set(twins)) == len(twins)


def test_signs_that_mean_something_have_twins_of_their_own() -> None:
    signs = [
        "≈",
        glyphs.NONE,
        glyphs.LIVE,
        glyphs.GONE,
        glyphs.PROBLEM,
        glyphs.YES,
        glyphs.NO,
        glyphs.CUT,
        glyphs.MARK,
        glyphs.EMPTY,
    ]
    twins = [ascii_twin(s) for s in signs]
    assert len(set(twins)) == len(twins)
    assert not {t for t in twins if t.isalpha()} & set("dfgjklnoqrsuvwxyz") - {"o", "x"}  # keys are written with letters
    assert ascii_twin(glyphs.CLOSED) not in {ascii_twin(s) for s in ("≈", glyphs.MARK, glyphs.CUT)}


def test_signs_of_keys_have_no_twin() -> None:
    assert not set("↓↑←⏎▾▴") & set(glyphs._SIGNS)


def test_estimated_is_never_written_like_modified() -> None:
    assert ascii_twin("≈1.2k") != "~1.2k"


def test_foreign_letters_keep_their_room() -> None:
    assert ascii_twin("帮x", {"帮": 2}) == "??x"


def test_categories_have_letters_of_their_own() -> None:
    letters = [fill_of(c, True) for c in Category]
    assert "".join(letters) == "iktsyc"
    assert {fill_of(c, False) for c in Category} == {glyphs.FULL}


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({"LANG": "en_US.UTF-8", "TERM": "xterm"}, False),
        ({"LANG": "C.utf8"}, False),
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, True),
        ({"LC_CTYPE": "UTF-8"}, False),
        ({}, True),
        ({"LANG": "en_US.UTF-8", "TERM": "linux"}, True),
        ({"LANG": "de_DE.ISO-8859-1"}, True),
    ],
)
def test_ascii_by_itself(environ: dict[str, str], wanted: bool) -> None:
    assert needs_ascii(environ) is wanted


@pytest.mark.parametrize(
    ("part", "drawn"), [(0, ""), (0.5, "████"), (1, "████████"), (2, "████████"), (-1, ""), (0.0001, "▏"), (0.0625, "▌")]
)
def test_meter(part: float, drawn: str) -> None:
    assert meter(part, 8) == drawn
