"""The program: `pokdeng`, or `python -m pokdeng`."""

import signal
import sys
from types import FrameType


def run() -> None:
    """Run the command line; a SIGTERM ends it from the first moment, with status 143.

    In a container we are process 1, for which the kernel drops a signal that has no handler. Loading a command takes
    most of a second: a stop that falls into it would wait for the kill. The worker's own handler comes later.
    """
    signal.signal(signal.SIGTERM, _end)
    from pokdeng.cli import main  # noqa: PLC0415 - what it loads is what takes the time

    main()


def _end(number: int, _: FrameType | None) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    run()
