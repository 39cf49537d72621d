"""Counting tokens: one protocol, three counters, and the counter's name beside every number.

Nothing here touches the network: tiktoken downloads its vocabulary by itself when it misses it, so it is asked only
where the file lies on this disk already, whole (:func:`vocabulary`). :func:`fetch` is what the user asks for by word.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from ctx_inspect.core.files import open_regular

BYTES_PER_TOKEN = 3.5
"""Of the estimator: English prose has about 4.2, code 3.2; it counts code about 22 % too high."""

ENCODING = "o200k_base"
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Where the vocabulary comes from and what it must be: as tiktoken has both."""

PIECE = 100_000
"""Characters that are counted at once: a merge is not linear in a run without blanks. A cut costs at most a token."""

CALIBRATED_ON = 10
"""How many recorded requests a session's own ratio is taken from."""


class Counter(Protocol):
    """Counts tokens.

    Attributes:
        name: Stands beside each number that it counted.
    """

    @property
    def name(self) -> str:
        """What stands beside each number (``o200k_base``, ``bytes/3.5``)."""
        ...

    @property
    def needs_text(self) -> bool:
        """Whether it reads the text; else its size in bytes is enough (:meth:`of_size`)."""
        ...

    def of_text(self, text: str) -> int:
        """Return the tokens of a text."""
        ...

    def of_size(self, size: int) -> int:
        """Return the tokens of a text of this size in UTF-8 bytes, by an estimate where only a text could tell."""
        ...


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


class BytesCounter:
    """The estimator: UTF-8 bytes by a ratio."""

    needs_text = False

    def __init__(self, ratio: float = BYTES_PER_TOKEN, note: str = "") -> None:
        """Make one.

        Args:
            ratio: Bytes per token.
            note: Where the ratio comes from, if not from us.
        """
        self.ratio = ratio
        self.name = f"bytes/{ratio:.2g}" + (f", {note}" if note else "")

    def of_text(self, text: str) -> int:
        """Return the tokens of a text."""
        return self.of_size(_bytes(text))

    def of_size(self, size: int) -> int:
        """Return the tokens of a text of this size in bytes; something is never nothing."""
        return max(1, round(size / self.ratio)) if size > 0 else 0


class TiktokenCounter:
    """tiktoken with a vocabulary that lies on this disk."""

    needs_text = True
    name = ENCODING

    def __init__(self) -> None:
        """Load the vocabulary (about a second; call it in a worker).

        Raises:
            LookupError: The vocabulary is not on this disk, or tiktoken cannot be imported.
        """
        if vocabulary() is None:
            raise LookupError("the vocabulary is not on this machine")
        try:
            tiktoken = importlib.import_module("tiktoken")
        except ImportError:
            raise LookupError("tiktoken is not installed") from None
        self._encoding: Any = tiktoken.get_encoding(ENCODING)
        self._size = BytesCounter()

    def of_text(self, text: str) -> int:
        """Return the tokens of a text; text that looks like a special token counts as text."""
        return sum(len(self._encoding.encode_ordinary(piece)) for piece in _pieces(text))

    def of_size(self, size: int) -> int:
        """Return an estimate by size."""
        return self._size.of_size(size)


class ToktokCounter:
    """toktok-rs, the extra ``[tokens]``: the same numbers, with its vocabulary inside."""

    needs_text = True
    name = ENCODING

    def __init__(self) -> None:
        """Load it.

        Raises:
            LookupError: It is not installed, or another package has its name.
        """
        if not _has_toktok():
            raise LookupError("toktok-rs is not installed")
        try:
            self._count: Any = importlib.import_module("toktok").batch_count
        except (ImportError, AttributeError):
            raise LookupError("the installed toktok is another package or cannot be loaded") from None
        self._size = BytesCounter()

    def of_text(self, text: str) -> int:
        """Return the tokens of a text."""
        # it takes UTF-8 only, which a lone surrogate is not
        safe = [piece.encode("utf-8", "replace").decode() for piece in _pieces(text)]
        return sum(int(n) for n in self._count(safe, ENCODING, 1))

    def of_size(self, size: int) -> int:
        """Return an estimate by size."""
        return self._size.of_size(size)


def _pieces(text: str) -> Iterable[str]:
    return (text[i : i + PIECE] for i in range(0, len(text), PIECE))


def cache_folder(env: Mapping[str, str] | None = None) -> Path | None:
    """Return the folder where tiktoken keeps vocabularies; ``None`` where it was told to keep none."""
    env = os.environ if env is None else env
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if name in env:
            return Path(env[name]) if env[name] else None
    return Path(tempfile.gettempdir()) / "data-gym-cache"


def vocabulary(env: Mapping[str, str] | None = None) -> Path | None:
    """Return the vocabulary's file if it is on this disk and is what it must be, else ``None``.

    tiktoken replaces a file that is not, from the network: so its digest is checked before tiktoken is called.
    """
    folder = cache_folder(env)
    if folder is None:
        return None
    path = folder / hashlib.sha1(_ADDRESS.encode(), usedforsecurity=False).hexdigest()
    try:
        fd = open_regular(path)
        with os.fdopen(fd, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return None
    return path if digest == _SHA256 else None


def pick() -> Counter:
    """Return the best counter of this machine; the estimator where there is no other. Never downloads."""
    for make in (TiktokenCounter, ToktokCounter):
        try:
            return make()
        except LookupError:
            continue
    return BytesCounter()


def available(env: Mapping[str, str] | None = None) -> str:
    """Return the name of the counter that :func:`pick` would return, without loading it."""
    if vocabulary(env) is not None and importlib.util.find_spec("tiktoken") is not None:
        return f"{ENCODING} (tiktoken)"
    return f"{ENCODING} (toktok-rs)" if _has_toktok() else BytesCounter().name


def _has_toktok() -> bool:
    """Tell whether toktok-rs is installed; other distributions have a module of the same name."""
    # imported here: it brings half of the email package along, which the first frame need not wait for
    from importlib import metadata

    try:
        return bool(metadata.version("toktok-rs"))
    except metadata.PackageNotFoundError:
        return False


def fetch() -> Path:
    """Let tiktoken download its vocabulary, once, because the user said so. The only function that may.

    Raises:
        LookupError: It cannot be fetched or kept; the message is ours.
    """
    if (found := vocabulary()) is not None:
        return found
    if cache_folder() is None:
        raise LookupError("TIKTOKEN_CACHE_DIR is set and empty: tiktoken keeps nothing")
    try:
        importlib.import_module("tiktoken").get_encoding(ENCODING)
    except ImportError:
        raise LookupError("tiktoken is not installed") from None
    except Exception as error:  # whatever its download raises: requests' errors name addresses and proxies
        raise LookupError(f"the download failed ({type(error).__name__})") from None
    if (found := vocabulary()) is None:
        raise LookupError("the download was not kept")
    return found


def calibrated(pairs: Sequence[tuple[int, int]]) -> BytesCounter:
    """Return the estimator with a session's own ratio.

    Args:
        pairs: Of recorded requests: (bytes of all that was sent, tokens that the provider counted), oldest first.

    Returns:
        An estimator by the median ratio of the newest requests; the plain one where none tells
        or where the ratio is no text's (media, or a store that does not hold all that was sent).
    """
    ratios = [size / tokens for size, tokens in pairs[-CALIBRATED_ON:] if size > 0 and tokens > 0]
    if not ratios:
        return BytesCounter()
    ratio = median(ratios)
    return BytesCounter(ratio, "calibrated on this session") if 1.5 <= ratio <= 6 else BytesCounter()
