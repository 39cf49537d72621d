"""`Fix login 500` after the revert, until after the compaction."""

from __future__ import annotations

from tests.demo.script import APP, Step, Turn, Use, bash, do, edit, grep, mcp, read, say, shell, write

RULE = "- Every new handler gets a test that fails without it.\n- Error pages never show an exception to the visitor.\n"

AFTER_REVERT = (
    Turn(
        "Right, that was a bad idea. Keep the table and only shorten the lookup.",
        (
            do(edit("shop/sessions.py", "    row = find(id)\n", "    row = find(id) or find_old(id[:24])\n")),
            say("Now old ids are found as well, until they expire after 30 days."),
        ),
        38.3,
        kept=1.0,
    ),
    Turn(
        "Which files mention the 24 characters?",
        (
            do(mcp("filesystem_search", 1, query="24", path=APP), read("shop/ids.py", 0.7)),
            say("Only `shop/ids.py`, as `OLD_LENGTH`. I use that name now instead of the number."),
        ),
        40.6,
    ),
    Turn(
        "Add a line to the changelog.",
        (do(edit("CHANGELOG.md", "## Next\n", "## Next\n- People with an old cookie can log in again.\n")), say("Added under Next.")),
        41.1,
    ),
    Turn(
        "Does the export still work?",
        (
            do(bash("python scripts/export.py --dry-run", "log", 0.8)),
            say("Yes, it wrote 1,204 rows in the dry run, the same as yesterday."),
        ),
        42.4,
    ),
    Turn(
        "What does the login page say when it sends people back?",
        (
            do(read("shop/templates/login.html", 0.8, "page")),
            say("Nothing at all, it just appears. A short sentence would help: \u201cPlease log in again.\u201d"),
        ),
        43.6,
    ),
    Turn(
        "请把登录页面上的错误信息也翻译成中文，谢谢。",
        (
            do(read("shop/locale/zh.toml", 1.2, "words")),
            do(edit("shop/locale/zh.toml", 'again = ""', 'again = "请重新登录。"')),
            say("已经翻译好了：“请重新登录。” 英文和中文的错误信息现在是一致的。"),
        ),
        45.7,
    ),
    Turn(
        "谢谢! And German?",
        (do(edit("shop/locale/de.toml", 'again = ""', 'again = "Bitte melde dich noch einmal an."')), say("German is in as well.")),
        46.2,
    ),
    Turn(
        "Let us try this with the fast model for the small things.",
        (do(bash("git diff --stat", "diff", 0.7)), say("Nine files changed. Shall I tidy the imports?")),
        47.5,
        model="fast",
        kept=0,
    ),
    Turn("yes please", (do(bash("ruff check --fix shop tests", "grep", 0.7)), say("Done, four imports were unused.")), 48.7),
    Turn(
        "Back from lunch. Where were we?",
        (
            do(bash("git log --oneline -20 && git status", "diff", 1)),
            say("The fix is complete and translated; what is left is the review and the release note."),
        ),
        50.8,
        gap=2880,
        kept=0,
        model="big",
    ),
    Turn(
        "Please review the diff like a stranger would.",
        (
            do(bash("git diff main", "diff", 0.4)),
            say(
                "Two remarks: `require_session` has no docstring, and `find_old` can be removed after 30 days. A comment with the date would help."
            ),
        ),
        51.5,
    ),
    Turn(
        "Do both.",
        (
            do(
                edit(
                    "shop/sessions.py",
                    "def require_session(request):\n",
                    'def require_session(request):\n    """Return the session of a request, or send the visitor to the login page."""\n',
                ),
                read("shop/sessions.py", 1.2),
            ),
            say("Both are in, the comment names the date after which it can go."),
        ),
        53.5,
    ),
    Turn(
        "Add a rule about this to AGENTS.md, so that it does not happen again.",
        (
            do(read("AGENTS.md", 0.6, "rules")),
            do(edit("AGENTS.md", "## Rules\n", "## Rules\n" + RULE)),
            say("AGENTS.md has two new rules: a test for every handler, and no exception text on error pages.", kept=0.09, system=60),
        ),
        55.0,
    ),
    Turn(
        "Does any page show an exception today?",
        (do(grep("traceback|str\\(error\\)", 1)), say("One: `shop/errors.py` prints it in debug mode. That mode is off in production.")),
        55.9,
    ),
    Turn("Please make sure of that.", (Step("`settings.production.debug` is false, and a test now asserts it.", unreported=True),), 56.3),
    Turn(
        "How often do people log in per hour?",
        (
            do(bash("python scripts/logins_per_hour.py", "log", 1)),
            say("About 340 on a weekday morning, 60 at night. The old cookies were 4 % of them."),
        ),
        58.6,
    ),
    Turn(
        "Make a small chart for the team page.",
        (
            do(read("docs/team.md", 0.6, "prose")),
            do(
                write(
                    "docs/logins.svg",
                    "<svg xmlns='http://www.w3.org/2000/svg' width='240' height='60'>"
                    + "".join(f"<rect x='{x * 10}' y='{60 - (x * 7) % 50}' width='8' height='{(x * 7) % 50}'/>" for x in range(24))
                    + "</svg>",
                )
            ),
            say("`docs/logins.svg`, 24 bars, one per hour."),
        ),
        60.1,
    ),
    Turn(
        "Now the sign-out everywhere button: does it work with the old ids?",
        (
            do(read("shop/signout.py", 1), read("tests/test_signout.py", 1)),
            say("No. It deletes by the new id only, so an old session stays open. That is worth a fix."),
        ),
        63.4,
    ),
    Turn(
        "Fix it with a test.",
        (
            do(
                write(
                    "tests/test_signout_old.py",
                    "def test_signing_out_everywhere_closes_old_sessions(client):\n    client.cookie('sid', 'a' * 24)\n    client.post('/signout-all')\n    assert client.get('/account').status == 302\n",
                )
            ),
            do(edit("shop/signout.py", "delete(id)", "delete(id, old=id[:24])")),
            do(bash("pytest -q", weight=1)),
            say("Red first, green now. 233 tests pass."),
        ),
        66.9,
    ),
    Turn(
        "Ask the issue tracker whether somebody reported this.",
        (
            do(mcp("tracker_search", 1.2, query="signed out but still logged in", state="open")),
            say("Two reports, both from last week. I can link the fix in them."),
        ),
        69.6,
        kept=0.18,
    ),
    Turn(
        "Yes, and look at the oldest open ones about login.",
        (
            do(mcp("tracker_search", 1, query="login", sort="oldest"), mcp("tracker_read", 0.8, id=1207)),
            say("The oldest is about the reset mail: its link can be used twice. Three people confirm it."),
        ),
        73.2,
    ),
    Turn(
        "Is that true?",
        (
            do(read("shop/reset.py", 1), read("tests/test_reset.py", 0.8)),
            say("Yes. The link is marked as used only after the new password is saved; two quick clicks get through."),
        ),
        76.4,
    ),
    Turn(
        "Let us fix that as well. First the test.",
        (
            do(
                write(
                    "tests/test_reset_twice.py",
                    "def test_a_reset_link_works_once(client, reset):\n    assert client.open(reset).status == 200\n    assert client.open(reset).status == 410\n",
                )
            ),
            do(bash("pytest -q tests/test_reset_twice.py", weight=0.8), read("shop/links.py", 1)),
            say("The test fails as expected: the second click answers 200."),
        ),
        80.1,
    ),
    Turn(
        "And the fix.",
        (
            do(edit("shop/reset.py", "link = find_link(token)", "link = take_link(token)")),
            do(bash("pytest -q", weight=1)),
            say("`take_link` marks the link in the same transaction. 234 tests pass. 🎉"),
        ),
        83.0,
    ),
    Turn(
        "We have a skill for writing tests now, use it for the rest.",
        (
            do(Use("skill", {"name": "testing"}, kind="rules", weight=1)),
            do(bash("pytest -q --cov shop", weight=0.8)),
            say("With the skill: I check every branch of the changed handlers. Two branches in `shop/reset.py` had no test."),
        ),
        86.4,
        kept=0.14,
        system=90,
    ),
    Turn(
        "Write them.",
        (
            do(read("shop/reset.py", 1), read("tests/conftest.py", 1)),
            do(
                write(
                    "tests/test_reset_branches.py",
                    "def test_an_expired_link_says_so(client, reset, clock):\n    clock.forward(days=2)\n    assert 'expired' in client.open(reset).text\n\n\ndef test_an_unknown_link_says_nothing_else(client):\n    assert client.open('/reset/nope').status == 404\n",
                )
            ),
            do(bash("pytest -q --cov shop", weight=0.8)),
            say("Both branches are covered now, 236 tests pass."),
        ),
        92.9,
    ),
    Turn(
        "Compare the timings before and after, please.",
        (
            do(bash("python scripts/bench_login.py main", "log", 1)),
            do(bash("python scripts/bench_login.py", "log", 1)),
            say("Login takes 41 ms instead of 187 ms, because it no longer waits for the mail server."),
        ),
        98.7,
    ),
    Turn(
        "Great. Write the release note.",
        (
            do(read("docs/releases.md", 0.7, "prose")),
            do(
                edit(
                    "docs/releases.md",
                    "# Releases\n",
                    "# Releases\n\n## 2.4\n- Old cookies work again.\n- Signing out everywhere closes old sessions too.\n- A reset link works once.\n",
                )
            ),
            say("The note for 2.4 has three lines, in words that people outside the team understand."),
        ),
        102.5,
    ),
)

SUMMARY = """## Goal
Find and fix the 500 at login, and what came up on the way.

## Done
- Unknown and old session ids lead to the login page (`require_session`, `find_old` until it can go).
- The welcome mail waits in the queue; a login no longer needs the mail server.
- Signing out everywhere closes old sessions too. A reset link works once (`take_link`).
- Texts in English, Chinese and German. AGENTS.md has two new rules.

## State
- 236 tests pass, also the slow ones. The release note for 2.4 is written.
- Left: open a pull request; look at `shop/limits.py`, nobody has tested the login limit with old ids.

## Files
shop/login.py, shop/sessions.py, shop/account.py, shop/orders.py, shop/mail.py, shop/signout.py, shop/reset.py, shop/ids.py, tests/
"""

AFTER_COMPACTION = (
    Turn(
        "Last thing: does the login limit count old ids too?",
        (
            do(
                read("shop/limits.py", 1.2),
                read("tests/test_limits.py", 1),
                text="I read the limit and its tests.",
                thinking="The limit is kept per session id. If it takes the full id, an old cookie would start from zero.",
            ),
            do(shell("pytest -q tests/test_limits.py", "18 passed in 0.42s"), bash("git grep -n limit", "grep", 0.6)),
            say("It does: the limit is kept per visitor, not per session. Nothing to change there."),
        ),
        41.3,
        kept=0,
    ),
)
