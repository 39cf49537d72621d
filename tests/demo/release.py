"""`Release notes 2.4`, the session that grows while it is watched, and two short ones."""

from __future__ import annotations

from tests.demo.script import Turn, Use, check, do, say
from tests.demo.script import pi_edit as edit
from tests.demo.script import pi_read as read

LIVE_OPENING = (
    Turn(
        "Let us write the notes for release 2.4 together. First collect what changed.",
        (
            do(
                Use("bash", {"command": "git log --oneline v2.3.."}, kind="grep", weight=1),
                text="I look at the commits since the last release.",
            ),
            say("Nine changes that a reader would notice, and thirty that they would not."),
        ),
        7.2,
        kept=0,
    ),
    Turn(
        "Only the nine, please. Group them.", (say("Login: three. Sharing: four. Guide: two. Shall I write one sentence for each?"),), 5.1
    ),
)
LIVE = (
    Turn(
        "Yes, one sentence each.",
        (
            do(Use("tracker_search", {"query": "milestone 2.4", "state": "closed"}, kind="grep", weight=1)),
            say(
                "Here are the three about the login: old cookies work again; signing out everywhere closes old sessions too; a reset link works once."
            ),
        ),
        8.1,
    ),
    Turn(
        "The second one is hard to read.",
        (say("“When you sign out everywhere, you are signed out everywhere, also where you had logged in before the last release.”"),),
        8.2,
    ),
    Turn(
        "Better. Now sharing.",
        (
            do(read("guide/sharing.md", 1)),
            say(
                "You can stop sharing at any time. Shared folders show who can see them. A shared page keeps its address when you move it. Invitations can be taken back."
            ),
        ),
        9.3,
    ),
    Turn(
        "Is the third one true?",
        (
            do(Use("tracker_read", {"id": 1188, "comments": True}, kind="prose", weight=1)),
            say("Yes, for pages inside the same workspace. I added “within your workspace”."),
        ),
        10.2,
    ),
    Turn(
        "Good catch. And the guide?",
        (
            do(Use("bash", {"command": "git diff --stat v2.3.. -- guide"}, kind="diff", weight=1)),
            say("Four chapters are rewritten; the Chinese chapter about sharing is up to date."),
        ),
        11.4,
    ),
    Turn(
        "Write the file.",
        (
            do(
                Use(
                    "write",
                    {
                        "path": "releases/2.4.md",
                        "content": "# 2.4\n\n## Login\n- Old cookies work again.\n- A reset link works once.\n\n## Sharing\n- You can stop sharing at any time.\n- Shared folders show who can see them.\n\n## Guide\n- Four chapters are rewritten.\n",
                    },
                    "Wrote releases/2.4.md.",
                )
            ),
            do(Use("bash", {"command": "make check"}, "spelling: 1 mistake in releases/2.4.md: folders", failed=True)),
            do(edit("releases/2.4.md", "Shared folders", "Shared folders ")),
            do(check()),
            say("The file is there. The spelling check stumbled over a missing blank, which is fixed."),
        ),
        11.8,
    ),
    Turn(
        "Can you translate the login part into Chinese?",
        (say("好的：旧的登录状态重新有效；“全部退出”也会退出旧设备；重设密码的链接只能用一次。"),),
        11.9,
    ),
    Turn(
        "And German?",
        (
            say(
                "Alte Anmeldungen gelten wieder. \u201eÜberall abmelden\u201c meldet dich wirklich überall ab. Ein Link zum Zurücksetzen gilt einmal."
            ),
        ),
        12.0,
    ),
    Turn(
        "Put both next to the English file.",
        (
            do(
                Use(
                    "write",
                    {"path": "releases/zh/2.4.md", "content": "# 2.4\n\n- 旧的登录状态重新有效。\n- 重设密码的链接只能用一次。\n"},
                    "Wrote releases/zh/2.4.md.",
                ),
                Use(
                    "write",
                    {
                        "path": "releases/de/2.4.md",
                        "content": "# 2.4\n\n- Alte Anmeldungen gelten wieder.\n- Ein Link zum Zurücksetzen gilt einmal.\n",
                    },
                    "Wrote releases/de/2.4.md.",
                ),
            ),
            do(check()),
            say("Both are written and checked."),
        ),
        12.3,
    ),
    Turn(
        "Who should read it before it goes out?",
        (
            do(Use("filesystem_search", {"query": "release readers"}, kind="prose", weight=1)),
            say("The list in the shared folder names Mia for the words and Tom for the facts."),
        ),
        13.5,
    ),
    Turn(
        "Make an issue text for them.",
        (
            say(
                "“Please read `releases/2.4.md`. Mia: is every sentence clear to somebody who has not followed along? Tom: is every sentence true? Two days are enough.”"
            ),
        ),
        13.7,
    ),
    Turn(
        "Perfect 🎉 Anything that we forgot?",
        (
            do(Use("bash", {"command": "git log --merges --oneline v2.3.."}, kind="grep", weight=1)),
            say(
                "One merge that no note mentions: the shorter lookup of sessions. It is faster, but nobody will notice. I would leave it out."
            ),
        ),
        14.6,
    ),
)

TERRAFORM = (
    Turn(
        "Why does the plan want to change the load balancer again?",
        (
            do(Use("bash", {"command": "terraform plan -no-color"}, kind="diff", weight=1)),
            say("Somebody changed its idle timeout by hand. The plan only puts it back to 60 seconds."),
        ),
        5.1,
        kept=0,
    ),
    Turn(
        "Keep the value from the console.",
        (
            do(
                Use(
                    "edit",
                    {"path": "lb.tf", "edits": [{"oldText": "idle_timeout = 60", "newText": "idle_timeout = 120"}]},
                    "Replaced 1 block in lb.tf.",
                )
            ),
            say("Now the plan is empty."),
        ),
        5.3,
    ),
)
ROTATE = (
    Turn(
        "Which staging keys are older than 90 days?",
        (
            do(
                Use(
                    "bash",
                    {"command": "scripts/keys --older 90d"},
                    "mail     sk-example-0000-this-is-not-a-real-key   131 days\nstorage  (kept in the vault)                     97 days\n",
                )
            ),
            say("Two: mail and storage. The mail key even stands in the output in full; I would rotate it today."),
        ),
        4.4,
        kept=0,
    ),
    Turn(
        "Do the mail key.",
        (
            do(Use("bash", {"command": "scripts/rotate mail --env staging"}, "new key stored in the vault, old key ends in 24 h")),
            say("Rotated. The old key works for one more day."),
        ),
        4.6,
    ),
)
