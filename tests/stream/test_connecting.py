"""What is said where no address of Kafka can be used, and what becomes of the client's own lines about it."""

from __future__ import annotations

import asyncio
import logging

import pytest
from aiokafka.errors import KafkaConnectionError

from pokdeng.stream.kafka import KafkaSettings
from pokdeng.stream.kafka.connecting import ATTEMPTS, connecting
from pokdeng.stream.port import LogUnavailableError

SETTINGS = KafkaSettings(bootstrap="a:1,b:2", set_by="the addresses")
CLIENT = logging.getLogger("aiokafka")


def test_a_line_about_an_address_is_kept_where_another_one_answers(caplog: pytest.LogCaptureFixture) -> None:
    """One broker of three is down: whoever runs the service wants to know."""
    with connecting(SETTINGS):
        CLIENT.error(ATTEMPTS[0], "a", 1, ConnectionRefusedError(111, "refused"))
        assert not caplog.messages
    assert caplog.messages == ['Unable connect to "a:1": [Errno 111] refused']


def test_a_line_about_an_address_becomes_the_sentence_where_none_answers(caplog: pytest.LogCaptureFixture) -> None:
    """It is said once, by whoever asked."""

    def connect() -> None:
        with connecting(SETTINGS):
            CLIENT.error(ATTEMPTS[0], "b", 2, ConnectionRefusedError(111, "refused"))
            CLIENT.warning(ATTEMPTS[1], "a", 1, TimeoutError())
            raise KafkaConnectionError("Unable to bootstrap from ...")

    with pytest.raises(LogUnavailableError) as raised:
        connect()
    assert str(raised.value) == (
        "no connection to Kafka at a:1 (no answer), b:2 (connection refused) within 0.1 s, each tried once: "
        "does it run there, and are the addresses right?"
    )
    assert not caplog.messages


def test_other_lines_of_the_client_are_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    """Inside and outside, of this connection and of others."""
    with connecting(SETTINGS):
        CLIENT.error("Unable connect to node with id %s: %s", 1, "refused")
        assert len(caplog.messages) == 1
    CLIENT.error(ATTEMPTS[0], "a", 1, "refused")
    assert len(caplog.messages) == 2


def test_two_connections_at_once_do_not_hear_each_other() -> None:
    """Each names what failed for itself."""

    async def connect(address: str, first: asyncio.Event, then: asyncio.Event) -> None:
        with connecting(KafkaSettings(bootstrap=address)):
            await first.wait()
            host, _, port = address.partition(":")
            CLIENT.error(ATTEMPTS[0], host, port, f"why of {host}")
            then.set()
            raise KafkaConnectionError

    async def fail(address: str, *, first: asyncio.Event, then: asyncio.Event) -> str:
        with pytest.raises(LogUnavailableError) as raised:
            await connect(address, first, then)
        return str(raised.value)

    async def both() -> tuple[str, str]:
        one, two, three = asyncio.Event(), asyncio.Event(), asyncio.Event()
        one.set()
        return await asyncio.gather(fail("a:1", first=one, then=two), fail("b:2", first=two, then=three))

    a, b = asyncio.run(both())
    assert "b:2" not in a
    assert "why of a" in a
    assert "a:1" not in b
    assert "why of b" in b
