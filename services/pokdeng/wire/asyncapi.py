"""The AsyncAPI 3.0 document: the topics, their keys, headers and messages. The messages' bodies are in `schemas`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

from pokdeng.events.inputs import BetEvent, FundsEvent, TableEvent
from pokdeng.events.reasons import DeadLetterReason
from pokdeng.wire.fields import ID_PATTERN
from pokdeng.wire.headers import headers
from pokdeng.wire.outputs import OUTPUTS_OF
from pokdeng.wire.schemas import docstring, schema_file_name
from pokdeng.wire.topics import CO_PARTITIONED, INPUTS, PARTITIONS, REQUIREMENTS, KeyedBy, TopicKind, Topics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pokdeng.wire.fields import JsonSchema

FILE_NAME: Final = "asyncapi.json"
_BINDING_VERSION = "0.5.0"
_TOPICS = Topics()
_DEAD_LETTER = "dead_letter"
_EVENTS_OF: Final[Mapping[TopicKind, tuple[type[Any], ...]]] = {
    TopicKind.TABLE_EVENTS: get_args(TableEvent),
    TopicKind.BETS: get_args(BetEvent),
    TopicKind.FUNDS: get_args(FundsEvent),
    **OUTPUTS_OF,
}
_PUBLIC = tuple(kind for kind in TopicKind if kind is not TopicKind.CHECKPOINTS)
_CARRIES: Final[Mapping[TopicKind, str]] = {
    TopicKind.TABLE_EVENTS: "Shoes, rounds and dealt cards, from the dealing floor and the supervisor.",
    TopicKind.BETS: "Bets and their cancels, from the bet gateway.",
    TopicKind.FUNDS: "Deposits and withdrawals, from the cashier.",
    TopicKind.BET_DECISIONS: "Each bet accepted or rejected, each cancel.",
    TopicKind.FUNDS_DECISIONS: "Each transfer credited, debited or rejected.",
    TopicKind.SETTLEMENTS: "Each accepted bet's result, refund or reversal.",
    TopicKind.ROUNDS: "Each round's result as a whole.",
    TopicKind.DEAD_LETTERS: "Records that could not be used, as they came, with why in headers. Restricted.",
}


def asyncapi_document() -> JsonSchema:
    """The whole document, for the default prefix. `schemas` lies beside it: bodies are named by their files."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Pok Deng settlement",
            "version": "1.0.0",
            "description": "Bets and cards in; decisions, settlements and rounds out. Amounts are whole minor units, "
            "written with digits only. A record lies in the partition murmur2(key) modulo the number of partitions.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": {kind.value: _channel(kind) for kind in _PUBLIC},
        "operations": {
            f"{_action(kind)}-{kind}": {
                "action": _action(kind),
                "channel": {"$ref": f"#/channels/{kind}"},
                "summary": _CARRIES[kind],
            }
            for kind in _PUBLIC
        },
        "components": {
            "messages": {name: message for kind in _PUBLIC for name, message in _messages(kind).items()},
            "messageTraits": {"cloudevents": _cloudevents(), "dead-letter": _dead_letter_headers()},
        },
    }


def _action(kind: TopicKind) -> str:
    return "receive" if kind in INPUTS else "send"


def _channel(kind: TopicKind) -> JsonSchema:
    requirement = REQUIREMENTS[kind]
    settings: JsonSchema = {
        "cleanup.policy": [requirement.cleanup_policy],
        "retention.ms": requirement.retention_ms,
    }
    if requirement.max_message_bytes is not None:
        settings["max.message.bytes"] = requirement.max_message_bytes
    said = [_CARRIES[kind]]
    if requirement.has_log_append_time:
        said.append("message.timestamp.type is LogAppendTime.")
    if kind in CO_PARTITIONED:
        said.append(f"As many partitions as {' and '.join(other for other in CO_PARTITIONED if other is not kind)}.")
    return {
        "address": _TOPICS.name(kind),
        "title": kind.value,
        "description": " ".join(said),
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in _messages(kind)},
        "bindings": {
            "kafka": {
                "topic": _TOPICS.name(kind),
                "partitions": PARTITIONS,
                "topicConfiguration": settings,
                "bindingVersion": _BINDING_VERSION,
            }
        },
    }


def _messages(kind: TopicKind) -> dict[str, JsonSchema]:
    if kind is TopicKind.DEAD_LETTERS:
        return {
            _DEAD_LETTER: {
                "name": _DEAD_LETTER,
                "title": _DEAD_LETTER,
                "summary": "A record that could not be used: key, value and headers as they came, and why.",
                "contentType": "application/octet-stream",
                "traits": [{"$ref": "#/components/messageTraits/dead-letter"}],
                "payload": {"description": "The record's value as it came: any bytes."},
                "bindings": _key(KeyedBy.ORIGINAL),
            }
        }
    return {event_class.event_type: _message(kind, event_class) for event_class in _EVENTS_OF[kind]}


def _message(kind: TopicKind, event_class: Any) -> JsonSchema:
    event_type: str = event_class.event_type
    message: JsonSchema = {
        "name": event_type,
        "title": event_type,
        "summary": docstring(event_class),
        "contentType": "application/json",
        "payload": {"$ref": f"./{schema_file_name(event_type)}"},
        "bindings": _key(REQUIREMENTS[kind].keyed_by),
    }
    return message if kind in INPUTS else message | {"traits": [{"$ref": "#/components/messageTraits/cloudevents"}]}


def _key(keyed_by: KeyedBy) -> JsonSchema:
    schema: JsonSchema = {"type": "string", "description": f"The key: {keyed_by}."}
    if keyed_by in {KeyedBy.TABLE_ID, KeyedBy.ACCOUNT_ID}:
        schema["pattern"] = ID_PATTERN
    return {"kafka": {"key": schema, "bindingVersion": _BINDING_VERSION}}


def _cloudevents() -> JsonSchema:
    """The headers of facts. Which, and in what order, is asked of `headers` itself."""
    described: dict[str, JsonSchema] = {
        "ce_id": {"description": "The fact's `event_id`.", "pattern": ID_PATTERN},
        "ce_type": {"description": "The fact's `type`."},
        "ce_time": {"description": "The fact's `occurred_at`.", "format": "date-time"},
        "ce_source": {"const": _TOPICS.source},
        "ce_specversion": {"const": "1.0"},
        "content-type": {"const": "application/json"},
    }
    names = [name for name, _ in headers("", "", "", _TOPICS.source)]
    properties = {name: {"type": "string"} | described[name] for name in names}
    return {"headers": {"type": "object", "properties": properties, "required": names}}


def _dead_letter_headers() -> JsonSchema:
    digits = {"type": "string", "pattern": "^-?[0-9]+$"}
    properties: JsonSchema = {
        "dlq.reason": {"type": "string", "enum": [reason.value for reason in DeadLetterReason]},
        "dlq.detail": {"type": "string", "description": "At most 1 KiB of UTF-8; shows no card."},
        "dlq.topic": {"type": "string"},
        "dlq.partition": digits,
        "dlq.offset": digits,
        "dlq.timestamp": digits | {"description": "Broker time of the record, milliseconds since the epoch."},
    }
    truncated: JsonSchema = {
        "dlq.truncated": {
            "const": "true",
            "description": "The broker refused the whole: value and headers are replaced by hashes and lengths.",
        },
        "dlq.headers-sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "dlq.headers-length": digits,
    }
    return {"headers": {"type": "object", "properties": properties | truncated, "required": list(properties)}}
