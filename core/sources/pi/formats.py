"""What Pi writes and sends: record types, frames and placeholders, as read in Pi 0.74 and 1.6.

These are formats: what stands here must equal what Pi puts on the wire, byte for byte.
"""

from __future__ import annotations

COMPACTION_FRAME = ("The conversation history before this point was compacted into the following summary:\n\n<summary>\n", "\n</summary>")
"""Round the summary of a compaction, in a user message (``messages.js``)."""

BRANCH_FRAME = ("The following is a summary of a branch that this conversation came back from:\n\n<summary>\n", "</summary>")
"""Round the summary of a branch that was left, in a user message (``messages.js``)."""

NO_RESULT = "No result provided"
"""The result that Pi makes up for a call that was never answered (``transform-messages.js``)."""

DROPPED_STOPS = frozenset({"error", "aborted"})
"""Assistant rows with these stop reasons stay in the file and are left out of later requests."""

FINISH = {"stop": "stop", "length": "length", "toolUse": "tool_calls", "error": "error", "aborted": "aborted"}
"""Pi's stop reasons in our words; anything else is ``other``."""

RESERVE_TOKENS = 16_384
"""Pi compacts by itself above ``contextWindow`` less this many tokens, where settings.json says nothing else."""

DEFAULT_WINDOW = 128_000
"""The ``contextWindow`` that Pi takes for a model of models.json that gives none."""

NO_PROMPT = "Pi before 0.86 does not record system prompt and tools"


def bash_text(command: str, output: str, code: int | None, cancelled: bool, full_output: str | None) -> str:
    """Return a user's own shell command as the model gets it (``messages.js``).

    Args:
        command: The command line.
        output: What it printed, as stored.
        code: Exit code.
        cancelled: Whether it was stopped.
        full_output: Path of the whole output, where the stored one was cut.
    """
    text = f"Ran `{command}`\n" + (f"```\n{output}\n```" if output else "(no output)")
    if cancelled:
        text += "\n\n(command cancelled)"
    elif code:
        text += f"\n\nCommand exited with code {code}"
    if full_output:
        text += f"\n\n[Output truncated. Full output: {full_output}]"
    return text
