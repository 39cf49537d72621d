"""Makes the screenshots: ``python -m tests.snapshots [NAME…]``."""

from __future__ import annotations

import sys

from tests.snapshots.shots import FOLDER, SHOTS, take_now


def main(names: list[str]) -> int:
    """Make all pictures, or those that were named; remove files that are no picture of ours any more."""
    known = {s.name for s in SHOTS}
    if unknown := set(names) - known:
        print(f"no such picture: {', '.join(sorted(unknown))}; there are: {', '.join(sorted(known))}", file=sys.stderr)
        return 2
    FOLDER.mkdir(exist_ok=True)
    for shot in SHOTS:
        if names and shot.name not in names:
            continue
        document = take_now(shot)
        path = FOLDER / f"{shot.name}.svg"
        same = path.exists() and path.read_text(encoding="utf-8") == document
        path.write_text(document, encoding="utf-8")
        print(f"{'same   ' if same else 'changed'} {len(document.encode()):>8,}  {path.name}")
    for path in FOLDER.glob("*.svg"):
        if path.stem not in known:
            path.unlink()
            print(f"removed           {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
