"""`Rewrite guide`, a day of writing with Pi."""

from __future__ import annotations

from tests.demo.script import Turn, Use, check, do, say
from tests.demo.script import pi_edit as edit
from tests.demo.script import pi_read as read

OPENING = (
    Turn(
        "Please read the guide and tell me which chapter is the hardest to follow.",
        (
            do(read("guide/index.md", 0.3), read("guide/start.md", 1), text="I read the list of chapters and the first one."),
            say("The first one, `start.md`. It explains three words before it says what one can do, and step 4 has four actions."),
        ),
        8.0,
        kept=0,
    ),
    Turn(
        "Then start there. What would you change?",
        (say("Three things: begin with what the reader has at the end, split step 4, and move the words to `words.md` with a link."),),
        8.1,
    ),
    Turn(
        "Good, do it.",
        (
            do(edit("guide/start.md", "A workspace is a", "After this chapter you have your first page online.\n\nA workspace is a")),
            do(read("guide/words.md", 1), edit("guide/start.md", "4. Open the settings, choose", "4. Open the **Settings**.\n5. Choose")),
            do(check()),
            say("The chapter has nine steps now, each with one action. `make check` passes."),
        ),
        9.8,
    ),
)
AFTER_RULES = (
    Turn(
        "I added a part about the voice to AGENTS.md and reloaded. Please follow it in the next chapter.",
        (
            do(read("guide/pages.md", 1.2)),
            do(edit("guide/pages.md", "Pages are created with", "You make a page with")),
            say("`pages.md` speaks to the reader now, in the present."),
        ),
        12.4,
    ),
    Turn(
        "Is there a word that we use in two meanings?",
        (
            do(Use("grep", {"pattern": "workspace|space", "path": "guide"}, kind="grep", weight=1)),
            say("Yes, \u201cspace\u201d: sometimes the workspace, sometimes a folder in it. `words.md` knows the first meaning only."),
        ),
        14.2,
    ),
)
ABANDONED = (
    Turn(
        "What if every chapter were questions and answers?",
        (
            do(read("guide/sharing.md", 1)),
            say("It would be easy to search, but the order of the steps gets lost. I can try it with the chapter about sharing."),
        ),
        15.6,
    ),
    Turn(
        "Try it with that one.",
        (
            do(
                Use(
                    "write",
                    {
                        "path": "guide/sharing.md",
                        "content": "# Sharing\n\n**How do I share a page?** You press **Share** and fill in a name.\n\n**Can I take it back?** Yes, in the same place.\n",
                    },
                    "Wrote guide/sharing.md.",
                )
            ),
            say("Written. It is shorter, and I miss the first step: where to begin."),
        ),
        15.9,
    ),
)
LEFT_BRANCH = "The person tried questions and answers for the chapter about sharing and went back: the order of the steps was lost."
AFTER_BRANCH = (
    Turn(
        "No, we keep the steps. Use the word folder for the second meaning.",
        (
            do(
                edit("guide/sharing.md", "in your space", "in your folder"),
                edit("guide/pages.md", "a space for", "a folder for", failed=True),
            ),
            do(read("guide/pages.md", 0.6)),
            do(edit("guide/pages.md", "A space for", "A folder for")),
            say("Both chapters say folder. My first edit of `pages.md` missed the capital letter."),
        ),
        16.3,
    ),
    Turn(
        "We have a skill for links now. Check the chapters that you changed.",
        (
            do(Use("read", {"path": ".pi/skills/link-check/SKILL.md"}, kind="rules", weight=0.5)),
            do(Use("bash", {"command": "make links"}, kind="grep", weight=1)),
            say("Two links lead nowhere: the old page about spaces, and a picture that was renamed. Both are fixed."),
        ),
        19.2,
    ),
)
AFTER_SHUFFLE = (
    Turn(
        "Did the team write about sharing somewhere else?",
        (
            do(Use("filesystem_search", {"query": "sharing a page", "folder": "support"}, kind="prose", weight=1)),
            say("In the support notes: people ask most of all how to stop sharing. The guide says it in the last line only."),
        ),
        21.9,
    ),
    Turn(
        "Put that further up, with a warning before it.",
        (
            do(read("guide/sharing.md", 1)),
            do(edit("guide/sharing.md", "1. Open the page.", "You can stop sharing at any time, see step 6.\n\n1. Open the page.")),
            do(check()),
            say("It is the second paragraph now, and the warning stands before step 6."),
        ),
        24.4,
    ),
    Turn(
        "这一章的中文版也要更新吗？",
        (
            do(read("guide/zh/sharing.md", 1, "chinese")),
            say("要的。中文版还在用旧的词，我把“空间”改成了“文件夹”，步骤的顺序也和英文版一样了。"),
        ),
        26.8,
    ),
    Turn(
        "谢谢 🙏 Then the pictures: which ones are out of date?",
        (
            do(Use("bash", {"command": "git log --format='%ar %s' -- guide/img"}, kind="grep", weight=1)),
            say("Four of eleven show the old menu: `start-2`, `pages-1`, `sharing-1` and `sharing-3`."),
        ),
        29.0,
    ),
)
SUMMARY = """## Goal
Rewrite the guide so that a reader who has ten minutes can follow it.

## Done
- `start.md`, `pages.md` and `sharing.md`: steps with one action, spoken to the reader, the word folder for the second meaning of space.
- Links are checked; the Chinese chapter about sharing follows the English one.

## Next
- New pictures: `start-2`, `pages-1`, `sharing-1`, `sharing-3`.
- The chapter about settings.
"""
AFTER_COMPACTION = (
    Turn(
        "Now the chapter about settings, with the fast model.",
        (
            do(read("guide/settings.md", 1)),
            do(edit("guide/settings.md", "The settings are opened", "You open the settings")),
            do(check()),
            say("Done: twelve steps, two warnings, each before its step."),
        ),
        17.6,
        kept=0,
    ),
    Turn(
        "Show me the list of chapters.",
        (do(read("guide/index.md", 0.5)), say("Start, pages, sharing, settings, words. The order matches `index.md`.")),
        18.4,
    ),
    Turn(
        "Good. That is it for today.",
        (say("Four chapters are rewritten. What is left: four pictures, and a reader who has never seen the product."),),
        18.5,
    ),
)
