"""What OpenCode itself puts on the wire, and words of its rows: formats of that program, not of this one.

Source of all of them: opencode-ai 1.18.33, read in the shipped program and checked against logged requests.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = "1.18.33"
"""The version the constants were taken from."""

RULES: Final = "rebuilt: opencode 1 rules"
"""How a message list made by this package is known."""

LAST_MIGRATION: Final = "20260622202450_simplify_session_input"
"""Newest migration known; a database with a later one is of a newer schema."""

WHAT_DID_WE_DO: Final = "What did we do so far?"
"""Stands for the row that asked for a compaction."""

TOOL_BY_USER: Final = "The following tool was executed by the user"
"""Stands for a subtask; also the stored synthetic text of a shell row."""

CLEARED: Final = "[Old tool result content cleared]"
"""Stands for the output of a tool whose result was pruned."""

INTERRUPTED: Final = "[Tool execution was interrupted]"
"""Stands for the output of a tool that never ended."""

ATTACHED_MEDIA: Final = "Attached media from tool result:"
"""Opens the user message that carries media of a tool's result, for models that take none in a result."""

BLANK: Final = " "
"""Stands for an empty text beside signed reasoning."""

PLAN_REMINDER: Final = (
    "<system-reminder>\n"
    "# Plan Mode - System Reminder\n"
    "\n"
    "CRITICAL: Plan mode ACTIVE - you are in READ-ONLY phase. STRICTLY FORBIDDEN:\n"
    "ANY file edits, modifications, or system changes. Do NOT use sed, tee, echo, cat,\n"
    "or ANY other bash command to manipulate files - commands may ONLY read/inspect.\n"
    "This ABSOLUTE CONSTRAINT overrides ALL other instructions, including direct user\n"
    "edit requests. You may ONLY observe, analyze, and plan. Any modification attempt\n"
    "is a critical violation. ZERO exceptions.\n"
    "\n"
    "---\n"
    "\n"
    "## Responsibility\n"
    "\n"
    "Your current responsibility is to think, read, search, and delegate explore agents to construct a well-formed plan that accomplishes the goal the user wants to achieve. Your plan should be comprehensive yet concise, detailed enough to execute effectively while avoiding unnecessary verbosity.\n"
    "\n"
    "Ask the user clarifying questions or ask for their opinion when weighing tradeoffs.\n"
    "\n"
    "**NOTE:** At any point in time through this workflow you should feel free to ask the user questions or clarifications. Don't make large assumptions about user intent. The goal is to present a well researched plan to the user, and tie any loose ends before implementation begins.\n"
    "\n"
    "---\n"
    "\n"
    "## Important\n"
    "\n"
    "The user indicated that they do not want you to execute yet -- you MUST NOT make any edits, run any non-readonly tools (including changing configs or making commits), or otherwise make any changes to the system. This supersedes any other instructions you have received.\n"
    "</system-reminder>\n"
)
"""Added to the newest user message of each request of the agent ``plan``; never stored."""

BUILD_REMINDER: Final = (
    "<system-reminder>\n"
    "Your operational mode has changed from plan to build.\n"
    "You are no longer in read-only mode.\n"
    "You are permitted to make file changes, run shell commands, and utilize your arsenal of tools as needed.\n"
    "</system-reminder>\n"
)
"""Added to the newest user message of each request of the agent ``build`` once ``plan`` has answered in the list; never stored."""

TEXTS: Final = {
    "what-did-we-do": WHAT_DID_WE_DO,
    "tool-by-user": TOOL_BY_USER,
    "cleared": CLEARED,
    "interrupted": INTERRUPTED,
    "attached-media": ATTACHED_MEDIA,
    "blank": BLANK,
    "plan-reminder": PLAN_REMINDER,
    "build-reminder": BUILD_REMINDER,
}
"""By the name that a ref's field gives them (``const:<name>``)."""

OUTPUT_TOKEN_MAX: Final = 32_000
"""Most tokens of output that it asks for."""

RESERVED_MAX: Final = 20_000
"""Most tokens that it reserves below a model's input limit, unless ``compaction.reserved`` says otherwise."""

HELPERS: Final = {"magic-context-": "magic-context"}
"""Beginnings of titles of child sessions that plugins run as hidden helpers, and the plugin."""

MEDIA_IN_RESULTS: Final = frozenset({"anthropic", "openai", "google-vertex-anthropic"})
"""Providers whose models take all media inside a tool's result (the rule is over their SDK, which the store does not name)."""

IMAGES_IN_RESULTS: Final = frozenset({"amazon-bedrock", "xai"})
"""Providers whose models take images there, nothing else."""

WORDS: Final = "OpenCode 1.x does not store "
NOT_STORED: Final = (
    ("system prompt", WORDS + "the system prompt"),
    ("instruction files", WORDS + "which instruction files were sent, nor their text"),
    ("skills", WORDS + "the list of skills it sends"),
    ("tools", WORDS + "tool schemas"),
    ("generation settings", WORDS + "temperature, output limit and provider options"),
    ("retries", WORDS + "retries: a row that was sent again looks like one sent once"),
    ("title requests", WORDS + "the requests that make titles"),
    ("step limit", WORDS + "the message that it adds in memory to the last step that an agent may take"),
    ("reverts that were undone", "they leave a trace in the event log only, which is searched for reverts that stayed"),
    ("plugin rewrites", WORDS + "what plugins change in memory before a request is sent"),
)
"""(what, why) that hold for every session."""
