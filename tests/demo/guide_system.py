"""System prompt, instruction files, skills and tools of the Pi sessions."""

from __future__ import annotations

from typing import Any

from tests.demo.script import DOCS, HOME

PREAMBLE = """You help a person with their writing and their code, in a terminal. You see what they type and what your tools give back, and nothing else.

Work in small steps. Read before you change. When you are not sure what is meant, ask one short question. Say what you did in plain words, and say so when something did not work.

You may read and change files below the working directory. Do not touch anything else without being asked. Never make up a file, a figure or a name.

When you write prose, keep the voice of the text around it. Prefer short sentences. Explain a term where it first occurs. Do not praise, do not apologise, do not repeat the question."""

RULES = """- Use `read` before `edit`.
- One change at a time; run the link check after the last.
- Paths in answers are relative to the working directory.
- Quote what you changed when it is short."""

AGENTS = f"{DOCS}/AGENTS.md"
GUIDE_AGENTS = f"{DOCS}/guide/AGENTS.md"
AGENTS_TEXT = """# How we write

- The reader has ten minutes and has never seen the product.
- A chapter starts with what one can do after reading it.
- Steps are numbered, and each step has one action.
- Screens are named as they are named on the screen, in bold.
- No jokes. No exclamation marks.
- Pictures have a sentence that says what is in them.

# How we work

- One chapter per change. Chapters live in `guide/`, pictures in `guide/img/`.
- `make check` tests links, spelling and headings. It must pass.
- The list of chapters is in `guide/index.md`; keep it in order.
- Words that the product uses are in `guide/words.md`. Use them and no others.
"""
AGENTS_MORE = """
# Voice

- Speak to the reader as "you", in the present: "You open the settings", never "The settings are opened".
- Buttons are pressed, links are followed, fields are filled in.
- Say what happens next, so that the reader can tell that it worked.
- Write numbers below ten as words, except in steps and sizes.
- A warning comes before the step that it warns of, never after it.
"""
GUIDE_TEXT = "Chapters have at most 900 words. Every chapter ends with one line that links to the next.\n"

SKILLS = {
    "spelling": ("Find and fix spelling mistakes, British English.", f"{HOME}/.pi/agent/skills/spelling/SKILL.md"),
    "pictures": ("Take a screenshot of a page and crop it for the guide.", f"{HOME}/.pi/agent/skills/pictures/SKILL.md"),
    "headings": ("Check that headings form an outline.", f"{DOCS}/.pi/skills/headings/SKILL.md"),
}
LINK_CHECK = {
    "link-check": ("Follow every link of a chapter and report the ones that lead nowhere.", f"{DOCS}/.pi/skills/link-check/SKILL.md")
}


def tool(name: str, description: str, **fields: tuple[str, str]) -> dict[str, Any]:
    """Make a tool whose parameters are (type, what it is for)."""
    properties = {k: {"type": t, "description": d} for k, (t, d) in fields.items()}
    return {
        "name": name,
        "description": description,
        "parameters": {"type": "object", "properties": properties, "required": list(fields)[:1]},
    }


FILE_TOOLS = (
    tool(
        "read",
        "Read a file. Text comes with line numbers; at most 2,000 lines at once, use offset for the rest. Pictures come as pictures.",
        path=("string", "The file, relative or absolute"),
        offset=("number", "First line, from 1"),
        limit=("number", "Most lines"),
    ),
    tool(
        "bash",
        "Run a command in the working directory and return what it prints, the last 2,000 lines of it. Commands end after two minutes unless a timeout says otherwise.",
        command=("string", "The command"),
        timeout=("number", "Seconds"),
    ),
    tool(
        "edit",
        "Replace text in a file. Each old text must occur exactly once; all edits of a call are made to the file as it was before the call.",
        path=("string", "The file"),
        edits=("array", "Pairs of oldText and newText"),
    ),
    tool(
        "write",
        "Write a whole file. Folders on the way are made. An existing file is replaced, so read it first.",
        path=("string", "The file"),
        content=("string", "Its new content"),
    ),
    tool(
        "grep",
        "Search the contents of files by a pattern. Returns file, line and the text of the line; long lines are cut.",
        pattern=("string", "A regular expression"),
        path=("string", "Where to look"),
        glob=("string", "Which files"),
        ignoreCase=("boolean", "Treat upper and lower case as equal"),
    ),
    tool(
        "find",
        "Find files by name. Files that git ignores are left out.",
        pattern=("string", "A glob such as **/*.md"),
        path=("string", "Where to look"),
        limit=("number", "Most files"),
    ),
)
SEARCH = tool(
    "filesystem_search",
    "Search the shared folder of the team by words. Returns the best matches with a few lines of each, the newest first.",
    query=("string", "What to look for"),
    folder=("string", "Only below this folder"),
    kinds=("array", "Kinds of files: text, sheet, slides, picture"),
    since=("string", "Only what was changed after this day, as 2026-09-01"),
    limit=("number", "Most matches"),
)
SEARCH_LEANER = tool(
    "filesystem_search",
    "Search the shared folder of the team by words. Returns the best matches with a few lines of each, the newest first.",
    query=("string", "What to look for"),
    folder=("string", "Only below this folder"),
)
SHARED_TOOLS = (
    tool(
        "filesystem_list",
        "List a folder of the team's shared files, with sizes and the day of the last change.",
        folder=("string", "The folder"),
        deep=("boolean", "Also what lies in its folders"),
    ),
    SEARCH,
    tool(
        "tracker_read",
        "Read one issue of the tracker with its comments, oldest first.",
        id=("number", "Number of the issue"),
        comments=("boolean", "Also the comments"),
    ),
    tool(
        "tracker_search",
        "Search the issues of the tracker. Words in quotes must occur as they are.",
        query=("string", "What to look for"),
        state=("string", "open, closed or all"),
    ),
)
