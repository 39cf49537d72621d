"""`Fix login 500` until lunch: what was done, and what was tried and taken back."""

from __future__ import annotations

from tests.demo.script import Step, Turn, Use, bash, do, edit, grep, read, say, write

BEFORE_REVERT = (
    Turn(
        "Some people get a 500 when they log in. Can you find out why?",
        (
            do(read("shop/login.py"), grep("def login", 0.3), text="I start with the login handler.", seconds=9),
            say(
                "The handler itself looks fine. It fails when `load_session` returns nothing, and then nobody checks for it. I would like to see a log of a failing request."
            ),
        ),
        16.2,
        kept=0,
    ),
    Turn(
        "here is the log of this morning, log/app.log",
        (
            do(bash("grep -n 'status=500' log/app.log | tail -40", "log")),
            say(
                "All of them come from people whose cookie is older than the last deploy. The old session ids have 24 characters, the new ones 32."
            ),
        ),
        17.7,
    ),
    Turn(
        "So old cookies are the problem?",
        (
            say(
                "Yes. `load_session` looks an id up by its full length, finds nothing and returns `None`; the next line reads `.user` from it."
            ),
        ),
        18.1,
    ),
    Turn(
        "Show me the place.",
        (
            do(read("shop/sessions.py", 0.5)),
            say(
                "`shop/sessions.py`, in `load_session`: the early return for an unknown id. The caller in `shop/login.py` trusts it blindly."
            ),
        ),
        18.9,
    ),
    Turn(
        "Write a test that fails first.",
        (
            do(read("tests/test_login.py")),
            do(
                write(
                    "tests/test_old_cookie.py",
                    'def test_an_old_cookie_leads_to_the_login_page(client):\n    client.cookie("sid", "a" * 24)\n    assert client.get("/account").status == 302\n',
                )
            ),
            do(bash("pytest -q tests/test_old_cookie.py", weight=0.6)),
            say("The test fails with the same 500 that people see. Good: now we have the bug in a bottle."),
        ),
        21.0,
    ),
    Turn(
        "Fix it, please. Small change.",
        (
            do(
                edit(
                    "shop/login.py",
                    "    user = session.user\n",
                    "    if session is None:\n        return redirect(LOGIN)\n    user = session.user\n",
                )
            ),
            do(bash("pytest -q", weight=1.2)),
            say("Fixed: an unknown session now leads to the login page. All 214 tests pass."),
        ),
        23.1,
    ),
    Turn(
        "Are there other places that do the same?",
        (do(grep("load_session\\(", 1)), say("Three more: `/account`, `/orders` and the mail settings. They share the same habit.")),
        23.7,
    ),
    Turn(
        "Then let us move the check into one helper.",
        (
            do(read("shop/account.py", 0.6), read("shop/orders.py", 0.6)),
            say(
                "I suggest `require_session(request)`, which returns a session or raises `LoginNeeded`. One handler turns that into the redirect."
            ),
        ),
        25.2,
    ),
    Turn(
        "ok do it",
        (
            do(edit("shop/account.py", "session = load_session(request)", "session = require_session(request)", failed=True)),
            do(read("shop/account.py", 0.5)),
            do(edit("shop/account.py", "    session = load_session(request.cookie)\n", "    session = require_session(request)\n")),
            say("My first edit missed, because the line has the cookie in it. The second one is in."),
        ),
        25.9,
    ),
    Turn(
        "And orders and mail too.",
        (
            do(
                edit("shop/orders.py", "load_session(request.cookie)", "require_session(request)"),
                edit("shop/mail.py", "load_session(request.cookie)", "require_session(request)"),
            ),
            say("Both changed. Nothing else calls `load_session` now but the helper."),
        ),
        26.5,
    ),
    Turn("Run everything once more, with the slow ones.", (do(bash("pytest -q --slow")), say("All 231 pass, the slow ones too.")), 27.9),
    Turn(
        "Now look through the whole log of yesterday for other causes.",
        (
            do(bash("cat log/app.log.1 | grep status=500", "log", 1.5)),
            Step("I am going through the other days as well, starting with the first of the", aborted=True, seconds=38),
        ),
        30.2,
    ),
    Turn(
        "Stop, that takes too long. Only yesterday.",
        (
            say(
                "Understood, yesterday only. There is one other cause: a login while the mail server is away. Seven requests, all between 11:40 and 11:52."
            ),
        ),
        31.0,
    ),
    Turn(
        "Find every place where sessions are read, also in scripts and jobs.",
        (
            do(
                Use(
                    "task",
                    {
                        "description": "Find where sessions are read",
                        "prompt": "Find every place where a session is read, also in scripts and jobs. Report file, line and what it does with a missing session.",
                        "subagent_type": "explore",
                    },
                    "CHILD",
                ),
                seconds=74,
                text="I send a helper through the tree.",
            ),
            say(
                "Eleven places. Nine use the helper now; `jobs/cleanup.py` and `scripts/export.py` read the table themselves, and both survive a missing session."
            ),
        ),
        32.0,
    ),
    Turn(
        "Nice. And the mail thing?",
        (
            do(read("shop/mail.py", 1)),
            say("`send_welcome` waits for the mail server before it answers. If that fails, the whole login fails with it."),
        ),
        34.2,
    ),
    Turn(
        "Can we send it later instead?",
        (
            do(read("jobs/queue.py", 1), grep("enqueue\\(", 0.5)),
            say("Yes, there is a queue already. `enqueue(send_welcome, user.id)` does it, and a failing job is tried again by itself."),
        ),
        36.3,
    ),
    Turn(
        "Good. Do that.", (do(edit("shop/login.py", "send_welcome(user)", "enqueue(send_welcome, user.id)")), say("Done, one line.")), 36.9
    ),
    Turn(
        "And a test with the mail server away?",
        (
            do(
                write(
                    "tests/test_mail_away.py",
                    "def test_login_works_without_mail(client, mail):\n    mail.away()\n    assert client.login().status == 302\n    assert mail.waiting == 1\n",
                ),
                bash("pytest -q tests/test_mail_away.py", weight=0.2),
            ),
            say("It passes: the login works, and one mail waits in the queue."),
        ),
        37.5,
    ),
)

REVERTED = (
    Turn(
        "Let us store the sessions in the cookie itself, then there is nothing to look up.",
        (
            do(read("shop/cookies.py", 1)),
            say("Possible: a signed cookie with the user's id and a date. We would lose the list of open sessions, though."),
        ),
        39.9,
    ),
    Turn(
        "Try it.",
        (
            do(
                edit("shop/sessions.py", "def load_session(cookie):", "def load_session(cookie):\n    return unsign(cookie)"),
                bash("pytest -q", weight=0.6),
            ),
            say("Twelve tests fail now, all about signing people out everywhere."),
        ),
        41.0,
    ),
    Turn(
        "Can they be saved?",
        (
            do(read("tests/test_sessions.py", 1)),
            say("Only with a list of revoked ids, and then we look something up again. I would take this back."),
        ),
        43.1,
    ),
)
