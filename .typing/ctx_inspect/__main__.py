"""``python -m ctx_inspect``: the same as the ``ctx-inspect`` command."""

from ctx_inspect.app.main import main

if __name__ == "__main__":
    main()
