"""The workers: their names, their settings, their number, what keeps them up."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml

from pokdeng.settlement.limits import load_limits
from tests.helm.chart import VALUES, rendered, template, variables_of
from tests.ops.rules import ALERTS, rules_of

EVERYTHING = next(file for file in VALUES if file.stem == "everything")
pytestmark = pytest.mark.usefixtures("helm")


def test_a_worker_is_named_by_its_pod() -> None:
    """Static membership: the instance id is the pod's name, which a StatefulSet gives again."""
    assert rendered().environment()["POKDENG_INSTANCE_ID"] == {"fieldRef": {"fieldPath": "metadata.name"}}


@pytest.mark.parametrize("values", VALUES, ids=lambda file: file.stem)
def test_every_variable_is_one_that_the_worker_reads(values: Path) -> None:
    """No setting is written under a name that the worker does not know."""
    told = {name for name in rendered(values).environment() if name != "POKDENG_EXTRA"}
    assert told <= variables_of("worker")


def test_probes_ask_the_health_pages() -> None:
    """Liveness and start ask `/health/live`, readiness `/health/ready`; a start may take minutes."""
    worker = rendered().worker()
    assert worker["livenessProbe"]["httpGet"] == {"path": "/health/live", "port": "http"}
    assert worker["startupProbe"]["httpGet"] == {"path": "/health/live", "port": "http"}
    assert worker["readinessProbe"]["httpGet"] == {"path": "/health/ready", "port": "http"}
    assert worker["startupProbe"]["periodSeconds"] * worker["startupProbe"]["failureThreshold"] >= 300
    assert worker["ports"] == [{"name": "http", "containerPort": 6066}]
    assert rendered().environment()["POKDENG_HTTP_HOST"] == "0.0.0.0"  # noqa: S104 - a container's


def test_limits_are_a_file_that_the_worker_takes(tmp_path: Path) -> None:
    """The ConfigMap is a settings file as the worker reads it, and a change of it starts workers anew."""
    made = rendered(EVERYTHING)
    text = made.of("ConfigMap", ending="-limits")["data"]["limits.toml"]
    assert tomllib.loads(text)["currencies"]["THB"] == {
        "stake_min": 1000,
        "stake_max": 50_000_000,
        "tables": {"T-VIP": {"stake_max": 5_000_000_000}},
    }
    file = tmp_path / "limits.toml"
    file.write_text(text)
    limits = load_limits(file)
    assert limits.currencies == ("JPY", "THB")
    assert limits.takes_stake("T-VIP", "THB", 5_000_000_000)
    assert made.environment()["POKDENG_LIMITS"] == "/etc/pokdeng/limits/limits.toml"
    annotation = "pokdeng/limits"
    before = made.of("StatefulSet")["spec"]["template"]["metadata"]["annotations"][annotation]
    other = rendered(EVERYTHING, limits__currencies__THB__stake_min=2000)
    assert other.of("StatefulSet")["spec"]["template"]["metadata"]["annotations"][annotation] != before


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"replicas": 13}, "replicas is 13: there are 12 partitions"),
        ({"autoscaling__maxReplicas": 13}, "autoscaling.maxReplicas is 13: there are 12 partitions"),
        ({"autoscaling__minReplicas": 7}, "autoscaling.minReplicas is 7, above autoscaling.maxReplicas, 6"),
        ({"topics__create__minInsync": 4}, "topics.create.minInsync is 4, above topics.create.replication, 3"),
        ({"kafka__security": "SASL_SSL"}, "kafka.sasl.existingSecret must name a Secret"),
        ({"kafka__sasl__existingSecret": "s"}, "kafka.sasl.existingSecret would be ignored"),
        ({"kafka__tls__existingSecret": "s"}, "kafka.tls.existingSecret would be ignored"),
        ({"topics__create__sasl__existingSecret": "s"}, "topics.create.sasl.existingSecret would be ignored"),
        ({"topics__create__tls__existingSecret": "s"}, "topics.create.tls.existingSecret would be ignored"),
        ({"topics__create__tls__certificateKey": "c"}, "topics.create.tls.existingSecret must name the Secret"),
        ({"checkpoint__schedule": "daily"}, "/checkpoint/schedule"),
        ({"checkpoint__schedule": "CRON_TZ=UTC 0 4 * * *"}, "/checkpoint/schedule"),
        ({"checkpoint__timeZone": ""}, "/checkpoint/timeZone"),
        ({"redis__tls__existingSecret": "s"}, "redis.tls.existingSecret would be ignored"),
        ({"worker__env": {"POKDENG_REDIS": "redis://other"}}, "worker.env.POKDENG_REDIS"),
        ({"worker__env": {"POKDENG_REMEMBER": "30h"}}, "worker.env.POKDENG_REMEMBER"),
        ({"kafka__security": "SSL", "kafka__tls__certificateKey": "tls.crt"}, "kafka.tls.existingSecret must name"),
        (
            {"kafka__security": "SSL", "kafka__tls__existingSecret": "s", "kafka__tls__privateKeyKey": "tls.key"},
            "kafka.tls.privateKeyKey needs kafka.tls.certificateKey",
        ),
        ({"worker__terminationGracePeriodSeconds": 19}, "/worker/terminationGracePeriodSeconds"),
        ({"redis__url": "redis://user:secret@redis:6379/0"}, "/redis/url"),
        ({"kafka__bootstrap": ""}, "/kafka/bootstrap"),
        ({"kafka__bootstrp": "k:9092"}, "bootstrp"),
        ({"limits__currencies": {"THB": {"stake_max": 0}}}, "/limits/currencies/THB/stake_max"),
        ({"limits__currencies": {"thb": {}}}, "thb"),
        ({"replicas": "2"}, "/replicas"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(values: dict[str, object], why: str) -> None:
    """A value that contradicts another, is out of range or misspelt stops the install, with its name."""
    done = template(**values)
    assert done.returncode != 0
    assert why in done.stderr


def test_the_scaler_never_goes_beyond_the_partitions() -> None:
    """KEDA counts on the three input topics, within the number of partitions, and the number of pods is left to it."""
    made = rendered(EVERYTHING)
    scaler = made.of("ScaledObject")["spec"]
    assert scaler["maxReplicaCount"] == 12
    assert scaler["scaleTargetRef"] == {"kind": "StatefulSet", "name": made.of("StatefulSet")["metadata"]["name"]}
    assert "replicas" not in made.of("StatefulSet")["spec"]
    topics = [one["metadata"]["topic"] for one in scaler["triggers"]]
    assert topics == ["pokdeng.table-events.v1", "pokdeng.bets.v1", "pokdeng.funds.v1"]
    assert {one["metadata"]["sasl"] for one in scaler["triggers"]} == {"scram_sha512"}
    assert "ScaledObject" not in rendered().kinds()


@pytest.mark.parametrize("values", VALUES, ids=lambda file: file.stem)
def test_worker_env_cannot_say_again_what_the_chart_says(values: Path) -> None:
    """Every variable that the chart writes is refused in `worker.env`: the pod would have it twice."""
    extra = yaml.safe_load(values.read_text()).get("worker", {}).get("env", {})
    for name in rendered(values).environment().keys() - extra.keys():
        done = template(worker__env={name: "x"})
        assert done.returncode != 0
        assert f"worker.env.{name}: this has a value of its own" in done.stderr


def test_the_scaler_has_the_secrets_that_there_are() -> None:
    """TLS by the system's authorities needs none; a certificate's file may hold its key, too."""
    secure = {"kafka__security": "SSL", "autoscaling__enabled": True}
    made = rendered(**secure)
    assert "TriggerAuthentication" not in made.kinds()
    assert not any("authenticationRef" in one for one in made.of("ScaledObject")["spec"]["triggers"])
    made = rendered(**secure, kafka__tls__existingSecret="s", kafka__tls__certificateKey="both.pem")
    keys = {one["parameter"]: one["key"] for one in made.of("TriggerAuthentication")["spec"]["secretTargetRef"]}
    assert keys == {"ca": "ca.crt", "cert": "both.pem", "key": "both.pem"}


def test_the_network_policy_lets_through_what_is_needed() -> None:
    """Ports come from Kafka's and Redis' addresses; pages are for those named, and for the smoke test."""
    spec = rendered(EVERYTHING).of("NetworkPolicy")["spec"]
    ports = [[one["port"] for one in rule["ports"]] for rule in spec["egress"]]
    assert ports == [[53, 53], [9093, 19093], [6380], [6066], [443]]
    assert len(spec["ingress"][0]["from"]) == 2
    least = rendered().of("NetworkPolicy")["spec"]
    assert [[one["port"] for one in rule["ports"]] for rule in least["egress"]] == [[53, 53], [9092], [6379], [6066]]


def test_rules_and_dashboard_are_the_files_of_the_chart() -> None:
    """Each file under `files/` is installed as it is: recording rules, alerts, the dashboard."""
    made = rendered(EVERYTHING)
    files = Path(__file__).resolve().parents[2] / "helm" / "pokdeng-settlement" / "files"
    kept = {file.name for file in files.iterdir()} & {"recording.yaml", "alerts.yaml", "dashboard.json"}
    rules = {one["metadata"]["name"].rpartition("-")[2] for one in made.all() if one["kind"] == "PrometheusRule"}
    assert rules == {name.removesuffix(".yaml") for name in kept if name.endswith(".yaml")}
    boards = [one for one in made.all() if one["metadata"]["name"].endswith("-dashboard")]
    assert len(boards) == ("dashboard.json" in kept)


def test_alerts_name_their_pages_where_they_are_served() -> None:
    """An address replaces the paths in the project; the texts of the alerts stay as they are, templates included."""
    made = rendered(prometheusRule__enabled=True, prometheusRule__runbooks="https://pages.example/settlement/")
    alerts = next(one for one in made.all() if one["metadata"]["name"].endswith("-alerts"))
    kept = rules_of(ALERTS)
    rules = [rule for group in alerts["spec"]["groups"] for rule in group["rules"]]
    assert [rule["expr"] for rule in rules] == [rule["expr"] for rule in kept]
    for rule, one in zip(rules, kept, strict=True):
        expected = f"https://pages.example/settlement/{rule['alert']}.md"
        assert rule["annotations"] == {**one["annotations"], "runbook_url": expected}
