"""The jobs beside the workers: topics before everything else, checkpoints on a schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.helm.chart import VALUES, environment_of, rendered, variables_of

if TYPE_CHECKING:
    from pathlib import Path

OF = {file.stem: file for file in VALUES}
EVERYTHING = OF["everything"]
pytestmark = pytest.mark.usefixtures("helm")

with_topics = pytest.mark.parametrize(
    "values",
    [file for name, file in OF.items() if name != "nothing-optional"],
    ids=lambda file: file.stem,
)


def steps_of(values: Path, **more: Any) -> dict[str, dict[str, Any]]:
    """The containers of the topics job, by name, in the order in which they run."""
    pod = rendered(values, **more).of("Job", ending="-topics")["spec"]["template"]["spec"]
    return {one["name"]: one for one in (*pod.get("initContainers", []), *pod["containers"])}


def user_of(container: dict[str, Any]) -> dict[str, str]:
    """Where a container's name for Kafka comes from."""
    found: dict[str, str] = environment_of(container)["POKDENG_KAFKA_USER"]["secretKeyRef"]
    return found


@with_topics
def test_every_variable_of_the_topics_job_is_one_that_it_reads(values: Path) -> None:
    """`topics create` and `topics check` get what they need to reach Kafka, and nothing of Redis."""
    for name, container in steps_of(values).items():
        told = environment_of(container).keys()
        assert told <= variables_of("topics", name)
        assert "POKDENG_BOOTSTRAP" in told


def test_topics_are_made_before_they_are_checked() -> None:
    """With both on, creating comes first, and both before anything is installed or upgraded."""
    job = rendered(EVERYTHING).of("Job", ending="-topics")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    pod = job["spec"]["template"]["spec"]
    assert [one["args"] for one in pod["initContainers"]] == [["topics", "create"]]
    assert [one["args"] for one in pod["containers"]] == [["topics", "check"]]


@with_topics
def test_topics_are_checked_for_the_partitions_that_they_are_made_with(values: Path) -> None:
    """Both steps are told `topics.partitions`."""
    for container in steps_of(values, topics__partitions=30).values():
        assert environment_of(container)["POKDENG_PARTITIONS"] == "30"


def test_topics_are_made_by_the_workers_principal_unless_another_is_named() -> None:
    """The default is one principal for both steps."""
    made = rendered(
        kafka__security="SASL_PLAINTEXT", kafka__sasl__existingSecret="workers", topics__create__enabled=True
    )
    pod = made.of("Job", ending="-topics")["spec"]["template"]["spec"]
    assert [user_of(one)["name"] for one in (*pod["initContainers"], *pod["containers"])] == ["workers", "workers"]


def test_topics_may_be_made_by_a_principal_of_its_own() -> None:
    """Its name and password are from its own Secret; the check and the workers keep theirs, and never see it."""
    steps = steps_of(EVERYTHING)
    assert user_of(steps["create"]) == {"name": "kafka-admin", "key": "name"}
    assert user_of(steps["check"]) == {"name": "kafka-user", "key": "user"}
    password = environment_of(steps["create"])["POKDENG_KAFKA_PASSWORD"]["secretKeyRef"]
    assert password == {"name": "kafka-admin", "key": "password"}
    assert user_of(rendered(EVERYTHING).worker())["name"] == "kafka-user"


def test_topics_may_be_made_with_a_certificate_of_its_own() -> None:
    """It lies in a folder that the step which makes topics has, and no other."""
    steps = steps_of(OF["tls-without-names"])
    create, check = environment_of(steps["create"]), environment_of(steps["check"])
    assert create["POKDENG_KAFKA_CERTIFICATE"] == "/etc/pokdeng/create/admin.pem"
    assert create["POKDENG_KAFKA_CA"] == "/etc/pokdeng/create/ca.crt"
    assert check["POKDENG_KAFKA_CERTIFICATE"] == "/etc/pokdeng/kafka/tls.crt"
    assert [one["name"] for one in steps["create"]["volumeMounts"]] == ["create-tls"]
    assert [one["name"] for one in steps["check"]["volumeMounts"]] == ["kafka-tls"]


def test_checkpoints_are_made_on_a_schedule() -> None:
    """By `balances checkpoint`, never two at a time, given up some time: one that hangs would stop all later ones."""
    made = rendered(EVERYTHING)
    spec = made.of("CronJob")["spec"]
    assert (spec["schedule"], spec["timeZone"]) == ("0 */6 * * *", "Asia/Bangkok")
    assert spec["concurrencyPolicy"] == "Forbid"
    job = spec["jobTemplate"]["spec"]
    assert job["activeDeadlineSeconds"] == 21600
    pod = job["template"]["spec"]
    assert pod["restartPolicy"] == "Never"
    assert pod["serviceAccountName"] == made.of("StatefulSet")["spec"]["template"]["spec"]["serviceAccountName"]
    assert [one["args"] for one in pod["containers"]] == [["balances", "checkpoint"]]


@pytest.mark.parametrize("name", ["everything", "tls-without-names"])
def test_a_checkpoint_is_made_as_the_workers_are(name: str) -> None:
    """The same image, security context and credentials for Kafka, the same memory of ids; nothing of Redis."""
    made = rendered(OF[name])
    (container,) = made.of("CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    worker = made.worker()
    assert (container["image"], container["securityContext"]) == (worker["image"], worker["securityContext"])
    told = environment_of(container)
    assert told.items() <= made.environment().items()
    assert told.keys() <= variables_of("balances", "checkpoint")
    kafka = {name for name in made.environment() if name.startswith("POKDENG_KAFKA_")}
    assert kafka | {"POKDENG_BOOTSTRAP", "POKDENG_PREFIX", "POKDENG_REMEMBER"} == told.keys()


def test_no_checkpoint_is_made_unless_it_is_wanted() -> None:
    """Off by default."""
    assert "CronJob" not in rendered().kinds()


def test_a_schedule_has_room_for_the_names_of_its_jobs() -> None:
    """Kubernetes takes no name of a CronJob above 52 characters, for it adds eleven."""
    made = rendered(fullnameOverride="a" * 40 + "-bcd", checkpoint__enabled=True)
    assert made.of("CronJob")["metadata"]["name"] == "a" * 40 + "-checkpoint"
    assert len(rendered(fullnameOverride="a" * 44, checkpoint__enabled=True).of("CronJob")["metadata"]["name"]) == 52
