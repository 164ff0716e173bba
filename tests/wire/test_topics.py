"""Topics: their names, how they must be set up, and what `topics check` finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from pokdeng.wire import REQUIREMENTS, TopicKind, Topics
from pokdeng.wire.topic_check import Severity, TopicDescription, check_topics
from pokdeng.wire.topics import DAY_MS, KeyedBy

TOPICS: Final = Topics()
SAFE: Final = {"min.insync.replicas": "2", "unclean.leader.election.enable": "false"}
GOOD: Final = {
    TOPICS.name(kind): TopicDescription(partitions=12, replication=3, configs=requirement.configs() | SAFE)
    for kind, requirement in REQUIREMENTS.items()
}


def changed(kind: TopicKind, **configs: str) -> dict[str, TopicDescription]:
    """Good topics, but one with other settings (dots written as underscores)."""
    name = TOPICS.name(kind)
    settings = {setting.replace("_", "."): value for setting, value in configs.items()}
    return GOOD | {name: replace(GOOD[name], configs={**GOOD[name].configs, **settings})}


def found(described: dict[str, TopicDescription], **options: bool) -> list[tuple[Severity, str]]:
    """What is found: severity and topic."""
    return [(finding.severity, finding.topic) for finding in check_topics(described, topics=TOPICS, **options)]


def test_topics_are_named_as_the_contract_says() -> None:
    """Nine names, under a prefix."""
    assert TOPICS.names == (
        "pokdeng.table-events.v1",
        "pokdeng.bets.v1",
        "pokdeng.funds.v1",
        "pokdeng.bet-decisions.v1",
        "pokdeng.funds-decisions.v1",
        "pokdeng.settlements.v1",
        "pokdeng.rounds.v1",
        "pokdeng.dead-letters.v1",
        "pokdeng.checkpoints.v1",
    )
    assert Topics("staging").rounds == "staging.rounds.v1"
    assert [TOPICS.kind_of(name) for name in TOPICS.names] == [*TopicKind]


def test_each_topic_is_keyed_as_the_contract_says() -> None:
    """By table, by account, as it came, or internally."""
    keyed = {kind.value: requirement.keyed_by for kind, requirement in REQUIREMENTS.items()}
    assert {kind for kind, by in keyed.items() if by is KeyedBy.TABLE_ID} == {"table-events", "bets", "rounds"}
    assert {kind for kind, by in keyed.items() if by is KeyedBy.ACCOUNT_ID} == {
        "funds",
        "bet-decisions",
        "funds-decisions",
        "settlements",
    }
    assert keyed["dead-letters"] is KeyedBy.ORIGINAL
    assert keyed["checkpoints"] is KeyedBy.INTERNAL


def test_topics_made_from_the_table_pass_the_check() -> None:
    """`topics create` makes what `topics check` wants, also where the broker adds settings of its own."""
    assert found(GOOD) == []
    assert found({**GOOD, "other": TopicDescription(partitions=1, replication=1)}) == []


def test_kept_times_are_those_of_the_contract() -> None:
    """14 days, 30, 90, for ever."""
    days = {kind.value: requirement.retention_days for kind, requirement in REQUIREMENTS.items()}
    assert days == {
        "table-events": 14,
        "bets": 14,
        "funds": 30,
        "dead-letters": 90,
        "bet-decisions": None,
        "funds-decisions": None,
        "settlements": None,
        "rounds": None,
        "checkpoints": None,
    }


@pytest.mark.parametrize("kind", TopicKind)
def test_a_missing_topic_is_an_error(kind: TopicKind) -> None:
    """Each of the nine must be there."""
    described = {name: topic for name, topic in GOOD.items() if name != TOPICS.name(kind)}
    assert found(described) == [(Severity.ERROR, TOPICS.name(kind))]


@pytest.mark.parametrize("kind", [TopicKind.TABLE_EVENTS, TopicKind.BETS, TopicKind.ROUNDS])
def test_co_partitioned_topics_must_have_the_same_number_of_partitions(kind: TopicKind) -> None:
    """Any number, but the same; others may differ."""
    name = TOPICS.name(kind)
    assert (Severity.ERROR, TOPICS.table_events) in found(GOOD | {name: replace(GOOD[name], partitions=6)})
    six = {name: replace(topic, partitions=6) for name, topic in GOOD.items()}
    assert found(six | {TOPICS.funds: replace(GOOD[TOPICS.funds], partitions=3)}) == []


@pytest.mark.parametrize("kind", [TopicKind.TABLE_EVENTS, TopicKind.BETS, TopicKind.ROUNDS])
def test_time_must_be_the_brokers(kind: TopicKind) -> None:
    """An error, or with `--allow-create-time` a warning."""
    described = changed(kind, message_timestamp_type="CreateTime")
    assert found(described) == [(Severity.ERROR, TOPICS.name(kind))]
    assert found(described, allow_create_time=True) == [(Severity.WARNING, TOPICS.name(kind))]


def test_time_of_other_topics_does_not_matter() -> None:
    """Funds and decisions may carry either."""
    assert found(changed(TopicKind.FUNDS, message_timestamp_type="LogAppendTime")) == []


@pytest.mark.parametrize(
    ("kind", "days", "is_fine"),
    [
        (TopicKind.BETS, 14, True),
        (TopicKind.BETS, 13.99, False),
        (TopicKind.TABLE_EVENTS, 13, False),
        (TopicKind.FUNDS, 29, False),
        (TopicKind.FUNDS, 31, True),
        (TopicKind.DEAD_LETTERS, 89, False),
        (TopicKind.DEAD_LETTERS, 90, True),
    ],
)
def test_what_is_kept_too_short_is_an_error(kind: TopicKind, days: float, *, is_fine: bool) -> None:
    """Longer and for ever are fine."""
    expected = [] if is_fine else [(Severity.ERROR, TOPICS.name(kind))]
    assert found(changed(kind, retention_ms=str(int(days * DAY_MS)))) == expected
    assert found(changed(kind, retention_ms="-1")) == []


def test_inputs_are_kept_longer_than_the_correction_window_by_seven_days() -> None:
    """A longer window needs longer inputs: 14 days are enough for 7, not for a minute more."""
    assert check_topics(GOOD, topics=TOPICS, correction_window_ms=7 * DAY_MS) == ()
    too_short = check_topics(GOOD, topics=TOPICS, correction_window_ms=7 * DAY_MS + 60_000)
    assert [finding.topic for finding in too_short] == [TOPICS.table_events, TOPICS.bets]
    assert str(14 * DAY_MS + 60_000) in too_short[0].message
    too_long = check_topics(GOOD, topics=TOPICS, correction_window_ms=24 * DAY_MS)
    assert [finding.topic for finding in too_long] == [TOPICS.table_events, TOPICS.bets, TOPICS.funds]


@pytest.mark.parametrize("kind", [kind for kind, wanted in REQUIREMENTS.items() if wanted.retention_days is None])
def test_facts_that_go_away_are_warned_of(kind: TopicKind) -> None:
    """Decisions, settlements and rounds keep everything; a compacted topic has no time."""
    expected = [] if kind is TopicKind.CHECKPOINTS else [(Severity.WARNING, TOPICS.name(kind))]
    assert found(changed(kind, retention_ms=str(365 * DAY_MS))) == expected
    assert found(changed(kind, retention_bytes="1000000")) == expected


@pytest.mark.parametrize("kind", TopicKind)
@pytest.mark.parametrize("policy", ["compact", "delete", "compact,delete"])
def test_only_checkpoints_are_compacted(kind: TopicKind, policy: str) -> None:
    """Anything else would lose facts, or checkpoints."""
    is_fine = policy == ("compact" if kind is TopicKind.CHECKPOINTS else "delete")
    assert found(changed(kind, cleanup_policy=policy)) == ([] if is_fine else [(Severity.ERROR, TOPICS.name(kind))])


def test_dead_letters_have_room_for_64_kib_more_than_any_input() -> None:
    """Larger inputs need a larger dead-letter topic."""
    assert found(changed(TopicKind.DEAD_LETTERS, max_message_bytes="1114124")) == []
    assert found(changed(TopicKind.DEAD_LETTERS, max_message_bytes="1114123")) == [
        (Severity.ERROR, TOPICS.dead_letters)
    ]
    assert found(changed(TopicKind.FUNDS, max_message_bytes="2000000")) == [(Severity.ERROR, TOPICS.dead_letters)]


def test_what_may_lose_records_is_warned_of() -> None:
    """Replication below 3, fewer than 2 in sync, unclean elections."""
    name = TOPICS.bets
    warned = [(Severity.WARNING, name)]
    assert found(GOOD | {name: replace(GOOD[name], replication=2)}) == warned
    assert found(changed(TopicKind.BETS, min_insync_replicas="1")) == warned
    assert found(changed(TopicKind.BETS, unclean_leader_election_enable="true")) == warned


def test_another_number_of_partitions_is_found_where_it_is_known() -> None:
    """An error for the topics that are read as one, a warning for any other; nothing where nobody says how many."""
    assert check_topics(GOOD, topics=TOPICS, partitions=12) == ()
    errors = {finding.topic: finding for finding in check_topics(GOOD, topics=TOPICS, partitions=24)}
    assert set(errors) == set(TOPICS.names)
    co_partitioned = {TOPICS.table_events, TOPICS.bets, TOPICS.rounds}
    assert {name for name, one in errors.items() if one.severity is Severity.ERROR} == co_partitioned
    assert errors[TOPICS.bets].message == "has 12 partitions, must have 24"
    grown = GOOD | {TOPICS.funds: replace(GOOD[TOPICS.funds], partitions=13)}
    assert found(grown) == []
    warned = check_topics(grown, topics=TOPICS, partitions=12)
    assert [(one.severity, one.topic) for one in warned] == [(Severity.WARNING, TOPICS.funds)]
    assert "has 13 partitions, should have 12" in warned[0].message


def test_settings_that_are_not_told_are_kafkas_defaults() -> None:
    """A bare topic keeps seven days and is not stamped by the broker."""
    bare = TopicDescription(partitions=12, replication=3, configs=SAFE)
    messages = [finding.message for finding in check_topics(GOOD | {TOPICS.bets: bare}, topics=TOPICS)]
    assert messages == [
        "retention.ms is 604800000 (7 days), must be at least 1209600000 or -1",
        "message.timestamp.type is CreateTime, must be LogAppendTime",
    ]
