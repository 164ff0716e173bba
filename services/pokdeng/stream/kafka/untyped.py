"""aiokafka's classes as `Any`: it is typed in places only, and this is the edge where that stays."""

from __future__ import annotations

from typing import Any

import aiokafka
import aiokafka.admin
import aiokafka.admin.config_resource
import aiokafka.client

AIOKafkaAdminClient: Any = aiokafka.admin.AIOKafkaAdminClient
AIOKafkaClient: Any = aiokafka.client.AIOKafkaClient
AIOKafkaConsumer: Any = aiokafka.AIOKafkaConsumer
AIOKafkaProducer: Any = aiokafka.AIOKafkaProducer
ConfigResource: Any = aiokafka.admin.config_resource.ConfigResource
ConfigResourceType: Any = aiokafka.admin.config_resource.ConfigResourceType
NewTopic: Any = aiokafka.admin.NewTopic
