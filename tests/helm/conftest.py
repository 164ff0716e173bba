"""Tests of the chart need helm; `scripts/helm/tools` fetches it, and POKDENG_REQUIRE_HELM=1 insists."""

from __future__ import annotations

import pytest

from tests.helm.chart import IS_REQUIRED, kubernetes_versions, tool


def _need(what: object, name: str) -> None:
    if what:
        return
    if IS_REQUIRED:
        pytest.fail(f"POKDENG_REQUIRE_HELM=1, but there is no {name}: scripts/helm/tools")
    pytest.skip(f"no {name} here: scripts/helm/tools fetches it")


@pytest.fixture(scope="session")
def helm() -> None:
    """Helm is at hand."""
    _need(tool("helm"), "helm")


@pytest.fixture(scope="session")
def kubeconform(helm: None) -> str:  # noqa: ARG001 - without it there is nothing to check
    """Where kubeconform is."""
    found = tool("kubeconform")
    _need(found, "kubeconform")
    _need(kubernetes_versions(), "schema of Kubernetes")
    return str(found)
