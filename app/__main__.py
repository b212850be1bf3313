"""``plegscope`` and ``python -m app``: the first of plegscope that runs."""

import signal
import sys


def run() -> int:
    """Run the command line; returns the exit code.

    Until a command takes Ctrl-C for itself it ends the process at once and without a word, in the
    middle of an import too, where Python would print where it was.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from app.cli import main
    from app.workers import leave_if_held_up

    code = main()
    leave_if_held_up(code)
    return code


if __name__ == "__main__":
    sys.exit(run())
