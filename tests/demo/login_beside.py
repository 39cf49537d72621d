"""What lies beside `Fix login 500` in its project: a subagent, a fork and two older sessions."""

from __future__ import annotations

from tests.demo.script import Turn, bash, do, edit, grep, read, say, write

EXPLORE = (
    Turn(
        "Find every place where a session is read, also in scripts and jobs. Report file, line and what it does with a missing session.",
        (
            do(grep("session", 2), text="I search the tree first."),
            do(read("jobs/cleanup.py", 1), read("scripts/export.py", 1)),
            say(
                "Eleven places. Nine call `require_session`. `jobs/cleanup.py:31` and `scripts/export.py:58` read the table themselves; a missing session is skipped there."
            ),
        ),
        7.9,
        kept=0,
    ),
)

RETRIES = (
    Turn(
        "The payment call fails now and then. Add retries, at most four.",
        (do(read("shop/pay.py", 1)), say("I would wait 1, 2, 4 and 8 seconds, and only for answers that are worth it: 429 and 503.")),
        16.6,
        kept=0,
    ),
    Turn(
        "Good. Log each of them.",
        (
            do(edit("shop/pay.py", "call(order)", "with_retries(call, order)"), bash("pytest -q tests/test_pay.py", weight=0.8)),
            say("Done: one warning per retry, with the wait in it."),
        ),
        17.5,
    ),
    Turn(
        "And a test for the fourth failure?",
        (
            do(
                write(
                    "tests/test_pay_gives_up.py",
                    "def test_the_fifth_failure_is_final(pay):\n    pay.fails(5)\n    assert pay.charge().state == 'failed'\n",
                )
            ),
            say("Written, it passes."),
        ),
        17.9,
    ),
)

CHINESE = (
    Turn(
        "帮我修复登录页面在手机上的显示问题。",
        (do(read("shop/templates/login.html", 1, "page")), say("按钮太宽了，超出了屏幕。我把宽度改成百分之百，并加上一点边距。")),
        16.1,
        kept=0,
    ),
    Turn(
        "好的，顺便把字体调大一点 🙂",
        (do(edit("shop/static/login.css", "font-size: 14px", "font-size: 16px")), say("字体现在是 16 像素，在小屏幕上也很清楚。")),
        16.5,
    ),
)

FORKED = (
    Turn(
        "Another idea: let a middleware check the session before any handler runs.",
        (
            do(read("shop/middleware.py", 1)),
            say("That works too and needs no helper in each handler, but it also runs for the pages that need no session."),
        ),
        27.4,
    ),
    Turn("How many are those?", (do(grep("public=True", 1)), say("Fourteen of thirty-one. I would stay with the helper.")), 28.2),
)
