"""The log on Apache Kafka, read through Faust."""

from pokdeng.stream.kafka.admin import KafkaAdmin, NewTopicSpec, TopicDescription
from pokdeng.stream.kafka.log import KafkaLog
from pokdeng.stream.kafka.settings import KafkaSettings

__all__ = ["KafkaAdmin", "KafkaLog", "KafkaSettings", "NewTopicSpec", "TopicDescription"]
