"""Bytes and events, both ways: decoding of the inputs, ids and bytes of the facts, topics, dead letters, schemas.

Everything is derived from the dataclasses of `pokdeng.events`. No Kafka and no Redis here.
"""

from __future__ import annotations

from pokdeng.wire.dead_letters import (
    DeadLetter,
    DeadLetterInfo,
    LoggedRecord,
    dead_letter,
    read_info,
    truncated_dead_letter,
)
from pokdeng.wire.encode import encode
from pokdeng.wire.errors import MalformedOutputError, MalformedRecordError
from pokdeng.wire.headers import headers
from pokdeng.wire.inputs import (
    BYTES_MAX,
    DECODERS,
    EventDecoder,
    decode_bet_event,
    decode_funds_event,
    decode_table_event,
)
from pokdeng.wire.keys import expected_key
from pokdeng.wire.letter_actions import ActionInfo, LetterAction, action_record, parse_place, read_action
from pokdeng.wire.naming import NAMED_BY, EventIds, event_id, event_id_of
from pokdeng.wire.outputs import OUTPUTS_OF, decode_output
from pokdeng.wire.templates import AcceptedTemplate, RefundedTemplate, RejectedTemplate, SettledRound
from pokdeng.wire.topic_check import Finding, Severity, TopicDescription, check_topics
from pokdeng.wire.topics import REQUIREMENTS, KeyedBy, Requirement, TopicKind, Topics

__all__ = [
    "BYTES_MAX",
    "DECODERS",
    "NAMED_BY",
    "OUTPUTS_OF",
    "REQUIREMENTS",
    "AcceptedTemplate",
    "ActionInfo",
    "DeadLetter",
    "DeadLetterInfo",
    "EventDecoder",
    "EventIds",
    "Finding",
    "KeyedBy",
    "LetterAction",
    "LoggedRecord",
    "MalformedOutputError",
    "MalformedRecordError",
    "RefundedTemplate",
    "RejectedTemplate",
    "Requirement",
    "SettledRound",
    "Severity",
    "TopicDescription",
    "TopicKind",
    "Topics",
    "action_record",
    "check_topics",
    "dead_letter",
    "decode_bet_event",
    "decode_funds_event",
    "decode_output",
    "decode_table_event",
    "encode",
    "event_id",
    "event_id_of",
    "expected_key",
    "headers",
    "parse_place",
    "read_action",
    "read_info",
    "truncated_dead_letter",
]
