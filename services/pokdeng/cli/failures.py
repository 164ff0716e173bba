"""What is said where something does not answer: one sentence with the address, how long it was tried, and what to do.

How Kafka does not answer is said in `stream/kafka/connecting.py`.
"""

from __future__ import annotations

import errno
import os
import re
from typing import TYPE_CHECKING, Final

from pokdeng.ledger.port import LedgerError, LedgerUnavailableError

if TYPE_CHECKING:
    from pokdeng.ledger.redis_settings import RedisSettings
    from pokdeng.settlement.pages import CannotServeError

_NUMBER: Final = re.compile(r"Error (\d+) connecting")
"""As redis-py says why it could not connect."""


def of_redis(error: LedgerError, redis: RedisSettings | None) -> str:
    """Why the ledger cannot be used; `redis` is where it was looked for, None for an embedded server.

    >>> from pokdeng.ledger.redis_settings import RedisSettings
    >>> redis = RedisSettings(url="redis://user:secret@r:6379/0")
    >>> why = LedgerUnavailableError("no answer within 10000 ms: Error 111 connecting to r:6379. Connect call failed.")
    >>> print(of_redis(why, redis))
    Redis at redis://r:6379/0: no answer within 10000 ms (connection refused): does it run there, and is --redis right?
    >>> of_redis(LedgerError("created with 4 buckets, opened with 8"), redis)
    'created with 4 buckets, opened with 8'
    """
    if redis is None or not isinstance(error, LedgerUnavailableError):
        return str(error)
    said, _, why = str(error).partition(": ")
    number = _NUMBER.search(why)
    reason = os.strerror(int(number[1])).lower() if number else why.rstrip(".")
    return f"Redis at {redis}: {said}{f' ({reason})' if reason else ''}: does it run there, and is --redis right?"


def of_pages(error: CannotServeError) -> str:
    """Why a worker's pages cannot be served.

    >>> from pokdeng.settlement.pages import CannotServeError
    >>> print(of_pages(CannotServeError(errno.EADDRINUSE, "address already in use", "h:6066")))
    no pages at h:6066 (address already in use), tried once: does another worker run? --http-port 0 takes a free one
    """
    do = (
        "does another worker run? --http-port 0 takes a free one"
        if error.errno == errno.EADDRINUSE
        else "--http-host and --http-port name an address that is this process's to serve"
    )
    return f"no pages at {error.filename} ({error.strerror}), tried once: {do}"
