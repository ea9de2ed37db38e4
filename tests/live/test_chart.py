"""The Helm chart in three sizes: rendered by Helm, each resource as Kubernetes' schemas say."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
import yaml

from filters.site.management.commands import up
from tests.support.paths import ROOT

pytestmark = [pytest.mark.live, pytest.mark.long]

CHART = ROOT / "filters" / "site" / "packaging" / "chart"
TOOLS = ("helm-python-sdk==0.2.2", "kubernetes-validate==1.37.0")

SIZES = {
    "small": [],
    "medium": ["values-medium.yaml"],
    "large": ["values-medium.yaml", "values-large.yaml"],
}
OF_OPERATOR = {
    "mainClass", "runtimeVersions", "applicationTolerations", "sparkConf", "driverSpec",
    "executorSpec",
}  # fmt: skip
"""The fields of a SparkApplication of spark.apache.org/v1 that the chart may use."""

Resource = dict[str, Any]
Render = Callable[..., list[Resource]]


def merged(below: Resource, above: Resource) -> Resource:
    """Return values with others laid over them, as `helm --values` does."""
    both = {
        name: merged(below[name], value)
        for name, value in above.items()
        if isinstance(value, dict) and isinstance(below.get(name), dict)
    }
    return below | above | both


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Install Helm and the schemas, behind what the tests run with."""
    place = tmp_path_factory.mktemp("tools")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, "--target", place, *TOOLS], check=True, capture_output=True)
    sys.path.append(str(place))


@pytest.fixture
def render(tools: None) -> Render:
    """Return what renders the chart with the values of a size, and others over them."""
    helm = import_module("helm_python")

    def render(size: str, **others: Any) -> list[Resource]:
        values: Resource = {}
        for name in SIZES[size]:
            values = merged(values, yaml.safe_load((CHART / name).read_text()))
        with helm.Chart.load(str(CHART)) as chart:
            files = chart.render(values | others, name="post", namespace="mail")
        return [found for text in files.values() for found in yaml.safe_load_all(text) if found]

    return render


def require_valid(resource: Resource) -> None:
    import_module("kubernetes_validate").validate(resource, "1.37", strict=True)


def kinds(resources: list[Resource]) -> set[str]:
    return {resource["kind"] for resource in resources}


def of_kind(kind: str, resources: list[Resource]) -> list[Resource]:
    return [resource for resource in resources if resource["kind"] == kind]


def containers(resources: list[Resource]) -> list[Resource]:
    pods = [found["spec"]["template"] for found in of_kind("StatefulSet", resources)]
    return [container for pod in pods for container in pod["spec"]["containers"]]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("host", ["", "tapestry.example.org"])
def test_each_resource_is_as_the_schemas_of_kubernetes_say(
    render: Render, size: str, host: str
) -> None:
    resources = render(size, host=host)
    for resource in resources:
        if resource["kind"] != "SparkApplication":
            require_valid(resource)
            continue
        spec = resource["spec"]
        assert spec.keys() == OF_OPERATOR
        assert all(isinstance(value, str) for value in spec["sparkConf"].values())
        for role in ("driverSpec", "executorSpec"):
            pod = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": role}}
            template = merged(spec[role]["podTemplateSpec"], {"spec": {"containers": []}})
            require_valid(pod | {"template": template})
    assert ("Ingress" in kinds(resources)) == bool(host)
    assert ("SparkApplication" in kinds(resources)) == (size == "large")


def test_a_field_that_kubernetes_does_not_know_is_found(render: Render) -> None:
    (pods,) = of_kind("StatefulSet", render("small"))
    with pytest.raises(Exception, match="replica"):
        require_valid(merged(pods, {"spec": {"replica": 1}}))


@pytest.mark.parametrize("size", SIZES)
def test_its_pods_run_all_parts_with_arguments_and_settings_that_there_are(
    render: Render, size: str
) -> None:
    settings = re.findall(r"`([A-Z_]+)`", (ROOT / "filters" / "OPERATING.md").read_text())
    parser = up.Command().create_parser("tapestry", "up")
    run = set[str]()
    for container in containers(render(size, host="tapestry.example.org")):
        command, *arguments = container["args"]
        parts = parser.parse_args(arguments).parts
        run.update(parts)
        names = {variable["name"] for variable in container["env"]}
        assert command == "up" and names <= {"HOME", *settings}
        assert ("TAPESTRY_MACHINE" in names) == (size != "small")
    assert run >= {"web", "worker", "listener", "beat"}


def test_several_machines_without_their_database_are_refused(render: Render) -> None:
    with pytest.raises(Exception, match="name a secret with DATABASE_URL and REDIS_URL"):
        render("medium", secret="")


def test_a_spark_is_reached_by_the_pods_of_the_site_alone(render: Render) -> None:
    resources = render("large")
    sparks = [spark["spec"]["sparkConf"] for spark in of_kind("SparkApplication", resources)]
    assert len(sparks) == 2
    policies = [policy["spec"] for policy in of_kind("NetworkPolicy", resources)]
    guarded = {policy["podSelector"]["matchLabels"]["tapestry/server"] for policy in policies}
    assert guarded == {conf["spark.kubernetes.driver.label.tapestry/server"] for conf in sparks}
    for policy in policies:
        site, executors = (
            rule["from"][0]["podSelector"]["matchLabels"] for rule in policy["ingress"]
        )
        assert site["app.kubernetes.io/instance"] == "post" and len(executors) == 1
