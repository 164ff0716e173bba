"""The fast way and the close look decide alike, whatever was done to a record."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from pokdeng.wire import EventDecoder, MalformedRecordError, encode
from pokdeng.wire.inputs import DECODERS
from tests.wire.examples import INPUTS

if TYPE_CHECKING:
    from collections.abc import Callable

SNIPPETS = [
    b'"', b"\\", b"{", b"}", b"[", b"]", b":", b",", b" ", b"\n", b"0", b"-", b".", b"e1", b"1", b"\x00", b"\xff",
    b"\xc3", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\\ud800", b"\\u0041", b"\\n", b'\\"', b"NaN", b"null", b"true", b'""',
    b'"x":1,', b'"stake":1,', b'"stake" :1,', b'"type":"bet_placed",', b'"sta\\u006be":5,', b'"":"",',
    b'"x":{"a":1,"a":2},', b'"x":[[[]]],', b"9" * 30, "ก".encode(), "🂡".encode(),
]  # fmt: skip


@st.composite
def mutilated(draw: st.DrawFn) -> bytes:
    """A sound record after a few cuts, insertions and repetitions."""
    raw = encode(draw(INPUTS))
    if draw(st.booleans()):
        raw = json.dumps(
            json.loads(raw), ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1]))
        ).encode()
    for _ in range(draw(st.integers(0, 4))):
        edges = [place for place, byte in enumerate(raw) if byte in b'{},:"'] or [0]
        place = draw(
            st.one_of(st.integers(0, len(raw)), st.sampled_from(edges), st.sampled_from(edges).map(lambda at: at + 1))
        )
        edit = draw(st.sampled_from(["insert", "delete", "replace", "repeat"]))
        size = draw(st.integers(0, 40))
        piece = draw(st.one_of(st.sampled_from(SNIPPETS), st.binary(max_size=3)))
        if edit == "insert":
            raw = raw[:place] + piece + raw[place:]
        elif edit == "delete":
            raw = raw[:place] + raw[place + size :]
        elif edit == "replace":
            raw = raw[:place] + piece + raw[place + len(piece) :]
        else:
            members = raw[1:-1] if size > 30 else raw[place : place + size]
            raw = raw[:place] + members + raw[place:]
    return raw


def outcome(decode: Callable[[bytes], Any], raw: bytes) -> object:
    """The event, or why there is none."""
    try:
        return decode(raw)
    except MalformedRecordError as error:
        return error.reason, error.detail


def decoder_of(raw: bytes) -> EventDecoder[Any]:
    """The one topic's decoder that takes this record."""
    (decoder,) = (each for each in DECODERS.values() if not isinstance(outcome(each.decode, raw), tuple))
    return decoder


@settings(max_examples=600, deadline=None)
@given(raw=mutilated())
@example(raw=b"")
def test_both_ways_give_the_same_event_or_the_same_reason(raw: bytes) -> None:
    """Random edits of bytes, repeated names, spacing, nesting, escapes: never a difference, never another error."""
    for decoder in DECODERS.values():
        assert outcome(decoder.decode, raw) == outcome(decoder.decode_closely, raw)


@settings(max_examples=100, deadline=None)
@given(raw=st.binary(max_size=200))
def test_both_ways_agree_on_noise(raw: bytes) -> None:
    """Any bytes."""
    for decoder in DECODERS.values():
        assert outcome(decoder.decode, raw) == outcome(decoder.decode_closely, raw)


@settings(max_examples=100, deadline=None)
@given(event=INPUTS)
def test_a_sound_event_comes_back_as_it_was(event: Any) -> None:
    """Every input that is written is read as the same value, both ways, and by its own topic only."""
    raw = encode(event)
    decoder = decoder_of(raw)
    assert decoder.decode(raw) == decoder.decode_closely(raw) == event


@settings(max_examples=60, deadline=None)
@given(event=INPUTS, extra=st.recursive(st.none() | st.integers() | st.text(max_size=5), st.lists, max_leaves=5))
def test_a_field_of_a_newer_producer_is_ignored(event: Any, extra: Any) -> None:
    """Whatever stands in it, the event is the same."""
    members = json.loads(encode(event)) | {"a_newer_field": extra}
    raw = json.dumps(members, ensure_ascii=False).encode(errors="surrogatepass")
    decoder = next(
        decoder for decoder in DECODERS.values() if not isinstance(outcome(decoder.decode, encode(event)), tuple)
    )
    is_json = not any("\ud800" <= character <= "\udfff" for character in raw.decode(errors="surrogatepass"))
    assert outcome(decoder.decode, raw) == outcome(decoder.decode_closely, raw)
    assert (outcome(decoder.decode, raw) == event) is is_json
