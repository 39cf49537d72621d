"""Content of tool results in the sample sessions: invented source files, test runs, logs and listings of a wanted size.

Nothing is random: a small generator seeded by a name chooses the words, so that the same call always gives the same text.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator

BYTES_PER_TOKEN = 3.6
"""What the sample sessions' provider counts by: close to what real tokenizers give for a mix of code and prose."""


def tokens(text: str) -> int:
    """Return the tokens that the sample sessions' provider counts for a text."""
    return math.ceil(len(text.encode()) / BYTES_PER_TOKEN)


class Dice:
    """Chooses words by a seed, the same on every machine and Python."""

    def __init__(self, seed: str) -> None:
        self._state = int.from_bytes(hashlib.blake2b(seed.encode(), digest_size=8).digest(), "big")

    def below(self, n: int) -> int:
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
        return (self._state >> 33) % n

    def of(self, words: str) -> str:
        choices = words.split()
        return choices[self.below(len(choices))]


VERBS = "load save find check renew drop read write parse build send count merge clean open close match store trim lock"
NOUNS = "user session token cookie login mail parcel form field error page answer header filter row attempt window limit client reset"
ADJECTIVES = "old new empty open stale valid broken first last next known foreign signed short long fresh idle plain"
TYPES = "str int bool User Session bytes Row Reply"
STATES = "active expired revoked pending locked"


def _function(d: Dice) -> list[str]:
    verb, noun, other = d.of(VERBS), d.of(NOUNS), d.of(NOUNS)
    adjective = d.of(ADJECTIVES)
    kind = d.of(TYPES)
    body: list[list[str]] = [
        [
            f"    {other} = {d.of(VERBS)}_{other}({noun}, limit={d.below(90) + 10})",
            f"    if {other} is None:",
            f'        raise NotFound("no {adjective} {other}")',
            f"    return {other}.{d.of(NOUNS)}",
        ],
        [
            f"    for {other} in {noun}.{other}s:",
            f'        if {other}.state == "{d.of(STATES)}":',
            "            continue",
            f"        yield {other}",
        ],
        [
            f"    with database.transaction() as {other}:",
            f'        {other}.run("update {noun}s set state = ? where id = ?", ("{d.of(STATES)}", {noun}.id))',
            f'    log.info("{verb} {noun} %s", {noun}.id)',
        ],
        [
            f"    age = clock.now() - {noun}.created",
            f"    if age > settings.{other}_age:",
            f"        return {d.of(VERBS)}_{other}({noun}, reason={adjective!r})",
            f"    return {noun}",
        ],
    ]
    return [
        f"def {verb}_{adjective}_{noun}({noun}: {kind}) -> {d.of(TYPES)}:",
        f'    """{verb.capitalize()} the {adjective} {noun} and its {other}."""',
        *body[d.below(len(body))],
        "",
        "",
    ]


def code(seed: str) -> Iterator[str]:
    """Lines of a Python module."""
    d = Dice(seed)
    yield f'"""{d.of(NOUNS).capitalize()}s: how they are {d.of("made kept found checked")}."""'
    yield ""
    for _ in range(3):
        yield f"from shop.{d.of(NOUNS)}s import {d.of(VERBS)}_{d.of(NOUNS)}"
    yield ""
    while True:
        yield from _function(d)


def suite(seed: str) -> Iterator[str]:
    """Lines of a test run."""
    d = Dice(seed)
    yield "============================= test session starts =============================="
    yield "collected 214 items"
    yield ""
    n = 0
    while True:
        n += 1
        where = f"tests/test_{d.of('login sessions users mail forms')}.py"
        yield f"{where}::test_{d.of(VERBS)}_{d.of(ADJECTIVES)}_{d.of(NOUNS)} PASSED [{min(99, n % 100):3d}%]"


def log(seed: str) -> Iterator[str]:
    """Lines of a server's log."""
    d = Dice(seed)
    second = 11 * 3600 + d.below(3000)
    while True:
        second += d.below(9)
        at = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
        status = d.of("200 200 200 200 302 304 404 500")
        path = d.of("/login /login /logout /account /reset /api/users /api/sessions /static/app.css")
        yield f"{at} {'ERROR' if status == '500' else 'INFO '} req={d.below(65536):04x} {path} status={status} took={d.below(400) + 3}ms user={d.below(900) + 100}"


def grep(seed: str) -> Iterator[str]:
    """Lines that a search found."""
    d = Dice(seed)
    while True:
        name = f"shop/{d.of(NOUNS)}s.py"
        yield f"{name}:{d.below(380) + 1}:    {d.of(NOUNS)} = {d.of(VERBS)}_{d.of(NOUNS)}({d.of(ADJECTIVES)}_{d.of(NOUNS)})"


def diff(seed: str) -> Iterator[str]:
    """Lines of a diff."""
    d = Dice(seed)
    while True:
        name = f"shop/{d.of(NOUNS)}s.py"
        yield f"--- a/{name}"
        yield f"+++ b/{name}"
        line = d.below(300) + 1
        yield f"@@ -{line},7 +{line},8 @@"
        for old in _function(d)[:4]:
            yield f" {old}"
            yield f"{d.of('+ - + +')}    {d.of(NOUNS)} = {d.of(VERBS)}_{d.of(NOUNS)}({d.of(NOUNS)})"


SCREENS = "Settings Pages Sharing Members Folders History Export Profile"
THINGS = "page folder link comment picture table template draft"
STEPS = (
    "Open **{screen}** from the menu at the left.",
    "Pick the {thing} that you want to change. A small mark shows that it is picked.",
    "Press **Save**. The {thing} is shown again, with its new name.",
    "If the {thing} is shared, the others see the change at once.",
    "You can take this back for thirty days: open **History** and press **Restore**.",
    "Fill in a name. Two {thing}s in one folder need different names.",
    "Check the list of members before you go on: it says who can see the {thing}.",
    "Wait until the line at the bottom says that all is saved.",
    "Drag the {thing} to its new place, or use **Move** in its menu.",
    "Links to the {thing} keep working, also those that others have saved.",
)
TITLES = (
    "Make a new {thing}",
    "Move a {thing}",
    "Give a {thing} another name",
    "Share a {thing} with your team",
    "Find a {thing} again",
    "Take a {thing} back",
)


def prose(seed: str) -> Iterator[str]:
    """Lines of a guide for users."""
    d = Dice(seed)
    while True:
        thing, screen = d.of(THINGS), d.of(SCREENS)
        yield f"## {TITLES[d.below(len(TITLES))].format(thing=thing)}"
        yield ""
        first = d.below(len(STEPS))
        for n in range(4 + d.below(3)):
            step = STEPS[(first + n * 3) % len(STEPS)]
            yield f"{n + 1}. {step.format(thing=thing, screen=screen)}"
        yield ""


CHINESE = (
    "在左边的菜单里打开“{0}”。",
    "选中要修改的页面，旁边会出现一个小标记。",
    "按“保存”，页面会用新的名字再显示一次。",
    "如果页面已经共享，别人马上就能看到修改。",
    "三十天之内可以在“历史”里恢复。",
    "同一个文件夹里的页面不能同名。",
)
CHINESE_SCREENS = "设置 页面 共享 成员 文件夹 历史"


def chinese(seed: str) -> Iterator[str]:
    """Lines of the same guide in Chinese."""
    d = Dice(seed)
    while True:
        yield f"## {d.of(CHINESE_SCREENS)}"
        yield ""
        first = d.below(len(CHINESE))
        for n in range(4):
            yield f"{n + 1}. {CHINESE[(first + n) % len(CHINESE)].format(d.of(CHINESE_SCREENS))}"
        yield ""


def words(seed: str) -> Iterator[str]:
    """Lines of a table of translated messages."""
    d = Dice(seed)
    yield "# One line for each message; empty ones fall back to English."
    n = 0
    while True:
        n += 1
        key = f"{d.of(NOUNS)}.{d.of(ADJECTIVES)}_{n}"
        yield f'{key} = "{CHINESE[d.below(len(CHINESE))].format(d.of(CHINESE_SCREENS))}"'


def page(seed: str) -> Iterator[str]:
    """Lines of a template of a web page."""
    d = Dice(seed)
    yield '{% extends "page.html" %}'
    while True:
        noun = d.of(NOUNS)
        yield f'<section class="{noun}">'
        yield f"  <h2>{{{{ text.{noun}_title }}}}</h2>"
        yield f'  <form method="post" action="{{{{ url.{noun} }}}}">'
        for _ in range(2):
            field = d.of(NOUNS)
            yield f'    <label for="{field}">{{{{ text.{field} }}}}</label> <input id="{field}" name="{field}" value="{{{{ form.{field} }}}}">'
        yield f'    <button type="submit">{{{{ text.{d.of(VERBS)} }}}}</button>'
        yield "  </form>"
        yield "</section>"


RULES = (
    "- Keep handlers short; what they decide belongs into a function with a name.",
    "- A change comes with its test in the same commit.",
    "- Names are whole words, as the people who use the shop say them.",
    "- Times are UTC in the database and local on the page.",
    "- Nothing that a visitor typed is written to the log.",
    "- Migrations can be run twice and change nothing the second time.",
    "- Mail is sent by a job, never while somebody waits for a page.",
    "- Money is counted in cents, as whole numbers.",
    "- Every page works without scripts.",
    "- Texts for visitors live in `shop/locale`, one file per language.",
    "- Ask before you add a dependency.",
    "- Run `pytest -q` before you say that something works.",
)


def rules(seed: str) -> Iterator[str]:
    """Lines of a file of instructions."""
    d = Dice(seed)
    n = d.below(len(RULES))
    while True:
        yield f"## {d.of('Code Tests Pages Data Texts Work')}"
        yield ""
        for _ in range(4):
            n += 1
            yield RULES[n % len(RULES)]
        yield ""


KINDS: dict[str, Callable[[str], Iterator[str]]] = {
    "code": code,
    "suite": suite,
    "log": log,
    "grep": grep,
    "diff": diff,
    "prose": prose,
    "chinese": chinese,
    "words": words,
    "page": page,
    "rules": rules,
}


def fill(kind: str, seed: str, size: int) -> str:
    """Return content of a kind that counts about ``size`` tokens, whole lines only."""
    out: list[str] = []
    used = 0
    for line in KINDS[kind](seed):
        used += len(line.encode()) + 1
        if out and used > size * BYTES_PER_TOKEN:
            break
        out.append(line)
    return "\n".join(out)


def numbered(text: str) -> str:
    """Return a file as OpenCode's read tool shows it."""
    return "\n".join(f"{n}: {line}" for n, line in enumerate(text.split("\n"), start=1))
