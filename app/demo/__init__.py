"""The sample sessions of ``ctx-inspect demo``: an OpenCode database and Pi session files, one of which grows."""

from ctx_inspect.app.demo.feed import Feed
from ctx_inspect.app.demo.show import playing, run, sources
from ctx_inspect.app.demo.stage import DATA, Stage, live_lines, stage

__all__ = ["DATA", "Feed", "Stage", "live_lines", "playing", "run", "sources", "stage"]
