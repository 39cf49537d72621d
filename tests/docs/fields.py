"""Writes what ``docs/json.md`` says of each field, from the Structs that make the answers."""

from __future__ import annotations

import inspect
import re
import types
import typing
from pathlib import Path

import msgspec
from ctx_inspect.core.schema import Diff, Doctor, Gate, Sessions, Show, Turns

PAGE = Path(__file__).resolve().parents[2] / "docs" / "json.md"
BEGIN = "<!-- fields: made by python -m tests.docs -->"
END = "<!-- end of fields -->"
ANSWERS = {"sessions": Sessions, "turns": Turns, "show": Show, "diff": Diff, "check": Gate, "doctor": Doctor}
WORDS = {str: "text", int: "number", bool: "true or false", float: "number"}


def meanings(struct: type[msgspec.Struct]) -> tuple[str, dict[str, str]]:
    """Return what a Struct is, and what each of its fields means, by attribute."""
    doc = inspect.getdoc(struct) or ""
    about, _, attributes = doc.partition("\nAttributes:\n")
    found = dict(re.findall(r"(?m)^ {4}(\w+): (.+)$", attributes))
    return " ".join(about.split()), found


def structs_of(answer: type[msgspec.Struct]) -> list[type[msgspec.Struct]]:
    """Return a Struct and all that occur in it, each once, in the order of the fields."""
    found: list[type[msgspec.Struct]] = [answer]
    for struct in found:
        for kind in typing.get_type_hints(struct).values():
            found += [s for s in _inside(kind) if s not in found]
    return found


def _inside(kind: object) -> list[type[msgspec.Struct]]:
    if isinstance(kind, type) and not typing.get_args(kind):
        return [kind] if issubclass(kind, msgspec.Struct) else []
    return [s for argument in typing.get_args(kind) for s in _inside(argument)]


def type_words(kind: object) -> str:
    """Return a field's type in words; what is absent where it is not known counts for nothing here."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(type_words(a) for a in arguments if a is not msgspec.UnsetType)
    if origin is list:
        return f"list of {type_words(arguments[0])}"
    if origin is dict:
        return f"object of {type_words(arguments[1])} by name"
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return f"[{kind.__name__}](#{kind.__name__.lower()})"
    return WORDS[kind]  # type: ignore[index]


def table(struct: type[msgspec.Struct]) -> str:
    """Return the fields of a Struct as a table."""
    about, said = meanings(struct)
    hints = typing.get_type_hints(struct)
    rows = [f"#### {struct.__name__}", "", _code(about), "", "| field | type | meaning |", "|---|---|---|"]
    for field in msgspec.structs.fields(struct):
        optional = "?" if field.default is msgspec.UNSET else ""
        rows.append(f"| `{field.encode_name}`{optional} | {type_words(hints[field.name])} | {_code(said[field.name])} |")
    return "\n".join(rows)


def _code(text: str) -> str:
    return text.replace("``", "`")


def fields() -> str:
    """Return the part of the page that is made: each Struct where it occurs first."""
    out = ["A field with `?` is absent where it is not known."]
    seen: set[type[msgspec.Struct]] = set()
    for name, answer in ANSWERS.items():
        out.append(f"### {name}")
        for struct in structs_of(answer):
            if struct not in seen:
                seen.add(struct)
                out.append(table(struct))
    return "\n\n".join(out)


def page(text: str) -> str:
    """Return the page with its made part as it has to be."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{fields()}\n\n{END}{after}"
