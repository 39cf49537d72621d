"""The four themes: they set the tones' colours and nothing else."""

from __future__ import annotations

from typing import LiteralString

from ctx_inspect.core.views.sheet import Tone
from ctx_inspect.widgets.tones import Paint
from textual.theme import Theme

DARK: dict[Tone, str] = {
    Tone.INSTRUCTIONS: "#6cb6ff",
    Tone.SKILLS: "#d49bd4",
    Tone.TOOLS: "#f0a35e",
    Tone.SETTINGS: "#9aa4b2",
    Tone.SYSTEM: "#e3d26f",
    Tone.CONVERSATION: "#5fc9a8",
    Tone.TEXT: "#d7dae0",
    Tone.DIM: "#8b93a5",
    Tone.ADDED: "#7fd88f",
    Tone.REMOVED: "#f28b82",
    Tone.MODIFIED: "#f2cc60",
    Tone.MOVED: "#7fd5ea",
    Tone.ALERT: "#ff7b72",
    Tone.WARN: "#f2cc60",
    Tone.FOCUS: "#8ab4f8",
}

LIGHT: dict[Tone, str] = {
    Tone.INSTRUCTIONS: "#0b5fb0",
    Tone.SKILLS: "#8a3f8a",
    Tone.TOOLS: "#9a5200",
    Tone.SETTINGS: "#56606e",
    Tone.SYSTEM: "#7a6500",
    Tone.CONVERSATION: "#0b6e52",
    Tone.TEXT: "#1f2430",
    Tone.DIM: "#5d6675",
    Tone.ADDED: "#1a7f37",
    Tone.REMOVED: "#b3261e",
    Tone.MODIFIED: "#8a6100",
    Tone.MOVED: "#0a6c84",
    Tone.ALERT: "#b3261e",
    Tone.WARN: "#8a6100",
    Tone.FOCUS: "#1f5fbf",
}

HIGH_CONTRAST: dict[Tone, str] = {
    **{tone: colour for tone, colour in DARK.items() if tone not in {Tone.TEXT, Tone.DIM, Tone.FOCUS}},
    Tone.TEXT: "#ffffff",
    Tone.DIM: "#ffffff",
    Tone.FOCUS: "#ffff00",
}
"""White on black; nothing is dim, evidence is told by ``≈``, ``—`` and italics alone."""

ANSI: dict[Tone, str] = {
    Tone.INSTRUCTIONS: "bright_blue",
    Tone.SKILLS: "magenta",
    Tone.TOOLS: "yellow",
    Tone.SETTINGS: "bright_black",
    Tone.SYSTEM: "bright_yellow",
    Tone.CONVERSATION: "cyan",
    Tone.TEXT: "default",
    Tone.DIM: "bright_black",
    Tone.ADDED: "green",
    Tone.REMOVED: "red",
    Tone.MODIFIED: "yellow",
    Tone.MOVED: "bright_cyan",
    Tone.ALERT: "bright_red",
    Tone.WARN: "yellow",
    Tone.FOCUS: "bright_blue",
}

GROUNDS = {
    "dark": ("#121318", "#232a3a", "#1d212b", "#1a1e27"),
    "light": ("#ffffff", "#dbe6f7", "#eceff4", "#f1f3f7"),
    "high-contrast": ("#000000", "#003a75", "#262626", "#1a1a1a"),
    "ansi": ("default", "default", "default", "default"),
}
"""Background, of a selection with and without focus, of header and footer."""

TABLES = {"dark": DARK, "light": LIGHT, "high-contrast": HIGH_CONTRAST, "ansi": ANSI}
NAMES: tuple[LiteralString, ...] = ("dark", "light", "high-contrast", "ansi")


def paint(name: str) -> Paint:
    """Return a theme's colours for what we draw.

    Args:
        name: ``dark``, ``light``, ``high-contrast`` or ``ansi``.
    """
    return Paint(TABLES[name], *GROUNDS[name])


def theme(name: str) -> Theme:
    """Return the framework's side of a theme: the little that style sheets use."""
    table, (ground, _, _, band) = TABLES[name], GROUNDS[name]
    ansi = name == "ansi"

    def css(colour: str) -> str:
        return f"ansi_{colour}" if ansi else colour

    return Theme(
        name=name,
        primary=css(table[Tone.FOCUS]),
        foreground=css(table[Tone.TEXT]),
        background=css(ground),
        surface=css(ground),
        panel=css(band),
        dark=name != "light",
        text_alpha=1.0,
        variables={"ground": css(ground), "ink": css(table[Tone.TEXT]), "edge": css(table[Tone.DIM])}
        | ({"ansi-background": "ansi_default", "ansi-foreground": "ansi_default"} if ansi else {}),
        ansi=ansi,
    )
