"""Keys go where every other Kafka producer sends them."""

from __future__ import annotations

import pytest
from aiokafka.partitioner import DefaultPartitioner
from aiokafka.partitioner import murmur2 as aiokafka_murmur2
from hypothesis import given
from hypothesis import strategies as st

from pokdeng.stream.partitioner import murmur2, partition_for

VECTORS = [
    (b"", 275646681),
    (b"21", -973932308 & 0xFFFFFFFF),
    (b"foobar", -790332482 & 0xFFFFFFFF),
    (b"a-little-bit-long-string", -985981536 & 0xFFFFFFFF),
    (b"a-little-bit-longer-string", -1486304829 & 0xFFFFFFFF),
    (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971 & 0xFFFFFFFF),
    (b"abc", 479470107),
]
"""Known answers of Kafka's Java client, unsigned."""


@pytest.mark.parametrize(("key", "expected"), VECTORS)
def test_the_hash_is_that_of_the_java_client(key: bytes, expected: int) -> None:
    """murmur2 gives the published answers."""
    assert murmur2(key) == expected


@given(st.binary(max_size=80), st.integers(1, 64))
def test_the_partition_is_that_of_aiokafka(key: bytes, count: int) -> None:
    """Any key goes where aiokafka's own producer sends it."""
    assert murmur2(key) == aiokafka_murmur2(key)  # type: ignore[no-untyped-call]  # aiokafka is typed in places only
    every = list(range(count))
    assert partition_for(key, count) == DefaultPartitioner()(key, every, every)


@pytest.mark.parametrize("count", [0, -1])
def test_a_topic_has_partitions(count: int) -> None:
    """There is no partition of none."""
    with pytest.raises(ValueError, match=str(count)):
        partition_for(b"k", count)
