"""Turns what aiokafka raises into what the port promises."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from aiokafka.errors import (
    ClusterAuthorizationFailedError,
    ConsumerStoppedError,
    GroupAuthorizationFailedError,
    KafkaError,
    KafkaTimeoutError,
    ProducerClosed,
    TopicAuthorizationFailedError,
)

from pokdeng.stream.port import LogError, LogUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator


_PASSING: Final = (KafkaTimeoutError, ProducerClosed, ConsumerStoppedError)
"""Says that Kafka is not there, besides what aiokafka calls retriable."""
_FORBIDDEN: Final = (ClusterAuthorizationFailedError, GroupAuthorizationFailedError, TopicAuthorizationFailedError)
"""Says that our principal may not do this: somebody must grant it, or it is the wrong one."""


@contextmanager
def unavailable(what: str) -> Iterator[None]:
    """Have LogUnavailableError say so where the network fails, time runs out, or Kafka asks to try again later.

    LogError says where our principal lacks a right. What else Kafka refuses for good passes as it is.
    """
    try:
        yield
    except TimeoutError as error:
        raise LogUnavailableError(f"{what}: Kafka does not answer in time") from error
    except OSError as error:
        raise LogUnavailableError(f"{what}: {error!r}") from error
    except _FORBIDDEN as error:
        raise LogError(f"{what}: this principal may not: {error}") from error
    except KafkaError as error:
        if is_passing(error):
            raise LogUnavailableError(f"{what}: {error!r}") from error
        raise


def is_passing(error: KafkaError) -> bool:
    """Whether the same might work later."""
    return error.retriable or isinstance(error, _PASSING)
