"""How the log looks: lines for people on a terminal, JSON otherwise; on standard error. Nothing is logged per bet."""

from __future__ import annotations

import logging
import sys

import structlog


def set_up_logs(level: str = "info") -> None:
    """Configure structlog and the libraries' loggers, once, at the start of a command."""
    number = logging.getLevelNamesMapping()[level.upper()]
    is_terminal = sys.stderr.isatty()
    renderer: structlog.typing.Processor = (
        # Not rich's tracebacks: they show what local variables hold, passwords among it.
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if is_terminal
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info if not is_terminal else _as_it_is,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        # Not cached on first use: a few lines a minute gain nothing, and what is cached can't be captured or reset.
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
    )
    logging.basicConfig(level=max(number, logging.WARNING), format="%(levelname)s %(name)s %(message)s")


def _as_it_is(
    _: structlog.typing.WrappedLogger, __: str, event_dict: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    return event_dict
