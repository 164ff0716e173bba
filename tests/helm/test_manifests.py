"""Whatever the values, what is rendered is what Kubernetes takes."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.helm.chart import CHART, SCHEMAS, VALUES, kubernetes_versions, newest, rendered, run_helm

if TYPE_CHECKING:
    from pathlib import Path

every_values = pytest.mark.parametrize("values", VALUES, ids=lambda file: file.stem)


@every_values
@pytest.mark.usefixtures("helm")
def test_helm_lints_without_a_warning(values: Path) -> None:
    """`helm lint --strict` has nothing to say."""
    done = run_helm("lint", "--strict", "--kube-version", newest(), "--values", str(values), str(CHART))
    assert done.returncode == 0, done.stdout + done.stderr


@every_values
def test_every_manifest_is_what_its_schema_says(values: Path, kubeconform: str) -> None:
    """Kubeconform, strict, by Kubernetes' own schemas and the operators': no field too many, none missing."""
    text = rendered(values).text
    count = len(re.findall(r"^kind: ", text, flags=re.MULTILINE))
    for version in kubernetes_versions():
        done = subprocess.run(  # noqa: S603 - our own words
            [
                kubeconform,
                "-strict",
                "-summary",
                *("-schema-location", f"{SCHEMAS}/v{version}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"),
                *("-schema-location", f"{SCHEMAS}/crds/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"),
                "-",
            ],
            input=text,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"Kubernetes {version}: {done.stdout}{done.stderr}"
        assert f"Valid: {count}, Invalid: 0, Errors: 0, Skipped: 0" in done.stdout


def test_the_check_finds_a_wrong_field(kubeconform: str) -> None:
    """A field that Kubernetes does not know, and one of a custom resource, are errors."""
    text = rendered(serviceMonitor__enabled=True).text
    for right, wrong in (("serviceName:", "serviceNames:"), ("interval: 15s", "intervall: 15s")):
        assert right in text
        done = subprocess.run(  # noqa: S603 - our own words
            [
                kubeconform,
                "-strict",
                *("-schema-location", f"{SCHEMAS}/v{newest()}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"),
                *("-schema-location", f"{SCHEMAS}/crds/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"),
                "-",
            ],
            input=text.replace(right, wrong),
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 1, done.stdout


@every_values
@pytest.mark.usefixtures("helm")
def test_every_pod_is_restricted(values: Path) -> None:
    """Every pod meets the Pod Security Standard "restricted", and has a read-only root, no token, a limit of memory."""
    pods = list(rendered(values).pods())
    assert pods
    for pod in pods:
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
        assert not any("hostPath" in volume for volume in pod.get("volumes", []))
        for container in (*pod["containers"], *pod.get("initContainers", [])):
            context = container["securityContext"]
            assert context["allowPrivilegeEscalation"] is False
            assert context["readOnlyRootFilesystem"] is True
            assert context["capabilities"] == {"drop": ["ALL"]}
            assert "memory" in container["resources"]["limits"]


@every_values
@pytest.mark.usefixtures("helm")
def test_every_mount_has_its_volume_and_every_volume_its_mount(values: Path) -> None:
    """What is mounted is there, what is there is mounted, and no password lies in a manifest."""
    for pod in rendered(values).pods():
        containers = [*pod["containers"], *pod.get("initContainers", [])]
        mounted = {mount["name"] for container in containers for mount in container.get("volumeMounts", [])}
        assert mounted == {volume["name"] for volume in pod.get("volumes", [])}
        for container in containers:
            for one in container.get("env", []):
                if one["name"].endswith(("_PASSWORD", "_USER")):
                    assert set(one["valueFrom"]) == {"secretKeyRef"}


@every_values
@pytest.mark.usefixtures("helm")
def test_names_and_labels_fit(values: Path) -> None:
    """All objects carry the release's labels; selectors find the workers and nobody else."""
    made = rendered(values)
    for one in made.all():
        assert one["metadata"]["labels"]["app.kubernetes.io/instance"] == "live"
        assert len(one["metadata"]["name"]) <= 63 - len("-0")
    workers = made.of("StatefulSet")["spec"]
    selector = workers["selector"]["matchLabels"]
    assert selector.items() <= workers["template"]["metadata"]["labels"].items()
    assert made.of("Service")["spec"]["selector"] == selector
    others = [
        one["metadata"]["labels"] if one["kind"] == "Pod" else one["spec"]["template"]["metadata"]["labels"]
        for one in made.all()
        if one["kind"] in ("Pod", "Job")
    ]
    others += [
        one["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
        for one in made.all()
        if one["kind"] == "CronJob"
    ]
    assert others
    assert not any(selector.items() <= labels.items() for labels in others)
