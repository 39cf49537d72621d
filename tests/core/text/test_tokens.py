"""Counters: their names, and that none of them ever asks the network."""

import hashlib
import socket
import sys
from pathlib import Path
from types import ModuleType

import pytest
from ctx_inspect.core.text import tokens

FILE = "fb374d419588a4632f3f557e76b4b70aebbca790"
"""tiktoken's name for the vocabulary in its cache: the SHA-1 of its address."""


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_the_estimator() -> None:
    counter = tokens.BytesCounter()
    assert counter.name == "bytes/3.5"
    assert not counter.needs_text
    assert counter.of_size(0) == 0
    assert counter.of_size(1) == 1
    assert counter.of_size(3500) == 1000
    assert counter.of_text("重构") == counter.of_size(6)
    assert counter.of_text("\ud83d" * 7) == 2


def test_no_file_no_tiktoken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert tokens.vocabulary() is None
    with pytest.raises(LookupError):
        tokens.TiktokenCounter()
    assert tokens.pick().name in ("bytes/3.5", "o200k_base")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_another_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    (tmp_path / FILE).write_bytes(b"half a vocabulary")
    assert tokens.vocabulary() is None
    tokens.pick()
    assert (tmp_path / FILE).read_bytes() == b"half a vocabulary"


def test_the_right_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With another digest in its place, as the real file is 3.6 MB."""
    (tmp_path / FILE).write_bytes(b"x")
    monkeypatch.setattr(tokens, "_SHA256", hashlib.sha256(b"x").hexdigest())
    assert tokens.vocabulary({"TIKTOKEN_CACHE_DIR": str(tmp_path)}) == tmp_path / FILE
    assert tokens.vocabulary({"DATA_GYM_CACHE_DIR": str(tmp_path)}) == tmp_path / FILE
    assert tokens.available({"TIKTOKEN_CACHE_DIR": str(tmp_path)}) == "o200k_base (tiktoken)"


@pytest.mark.parametrize(
    "env", [{"TIKTOKEN_CACHE_DIR": ""}, {"TIKTOKEN_CACHE_DIR": "", "DATA_GYM_CACHE_DIR": "/x"}, {"DATA_GYM_CACHE_DIR": ""}]
)
def test_told_to_keep_none(env: dict[str, str]) -> None:
    assert tokens.cache_folder(env) is None
    assert tokens.vocabulary(env) is None


def test_tiktoken_names_the_file_so() -> None:
    """If tiktoken moves its vocabulary we must learn it: it would download where we believe it does not."""
    openai_public = pytest.importorskip("tiktoken_ext.openai_public")
    assert hashlib.sha1(tokens._ADDRESS.encode()).hexdigest() == FILE
    constants = {str(c) for c in openai_public.o200k_base.__code__.co_consts}
    assert tokens._ADDRESS in constants
    assert tokens._SHA256 in constants


def test_counting_by_a_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    """tiktoken with a vocabulary of single bytes: text is cut in pieces, special words are text."""
    tiktoken = pytest.importorskip("tiktoken")
    tiny = tiktoken.Encoding(
        "tiny", pat_str=r"[\s\S]", mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={"<|endoftext|>": 256}
    )
    monkeypatch.setattr(tokens, "vocabulary", lambda: Path("x"))
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: tiny)
    counter = tokens.TiktokenCounter()
    assert counter.name == "o200k_base"
    assert counter.of_text("<|endoftext|>") == 13
    assert counter.of_text("é") == 2
    assert counter.of_text("a" * 250_000) == 250_000
    assert tokens.pick().name == "o200k_base"


@pytest.mark.counter
def test_toktok_counts_the_same_way() -> None:
    pytest.importorskip("toktok")
    counter = tokens.ToktokCounter()
    assert counter.of_text("hello world") == 2
    assert counter.of_text("a\ud83d") >= 2


@pytest.mark.parametrize("claimed", [False, True])
def test_another_package_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, claimed: bool) -> None:
    monkeypatch.setitem(sys.modules, "toktok", ModuleType("toktok"))
    if claimed:
        monkeypatch.setattr(tokens, "_has_toktok", lambda: True)
    with pytest.raises(LookupError):
        tokens.ToktokCounter()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert tokens.pick().name == "bytes/3.5"


def test_fetch_says_why_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    with pytest.raises(LookupError, match="keeps nothing"):
        tokens.fetch()


def test_calibration() -> None:
    assert tokens.calibrated([]).name == "bytes/3.5"
    assert tokens.calibrated([(4000, 1000)] * 3).name == "bytes/4, calibrated on this session"
    assert tokens.calibrated([(4000, 1000)] * 3).of_size(400) == 100
    # only the newest count; a store without the system prompt, or with media, is no base
    assert tokens.calibrated([(9000, 1000)] * 5 + [(3000, 1000)] * 10).ratio == 3
    assert tokens.calibrated([(100, 1000)]).ratio == 3.5
    assert tokens.calibrated([(90_000, 1000)]).ratio == 3.5
    assert tokens.calibrated([(0, 0), (100, 0)]).ratio == 3.5
