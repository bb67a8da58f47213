"""The Kubernetes manifests: in step with the compose file, and with the settings of the server.

The schemas of Kubernetes come from the package kubernetes-validate, which is fetched and not
installed: it has 17,000 files.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from referencing import Registry
from referencing.jsonschema import DRAFT202012
from ruamel.yaml import YAML

from tests.deploy.files import (
    DOCKERFILE,
    ROOT,
    SECRETS,
    environment,
    image_of,
    make_secrets,
    placed,
    servers,
    store_flags,
)
from towerhall_server.app import NOTICE_SECONDS
from towerhall_server.config.settings import ServerSettings, read_settings
from towerhall_server.live.directory import CLOSING_SECONDS, GO_WITHIN_MS

FOLDER = ROOT / "deploy/kubernetes"
Document = dict[str, Any]
VALIDATOR: Final = "kubernetes-validate==1.37.0"
SCHEMAS: Final = "kubernetes_validate/kubernetes-json-schema/v1.37.0-local-strict/"


def documents() -> Iterator[Document]:
    for path in sorted(FOLDER.glob("*.yaml")):
        yield from YAML(typ="safe").load_all(path.read_text())


def the(kind: str, name: str) -> Document:
    (found,) = (
        each for each in documents() if (each["kind"], each["metadata"]["name"]) == (kind, name)
    )
    return found


def pod_of(workload: Document) -> Document:
    pod: Document = workload["spec"]["template"]["spec"]
    return pod


def container_of(workload: Document) -> Document:
    (found,) = pod_of(workload)["containers"]
    assert isinstance(found, dict)
    return found


SERVERS, STORE = the("Deployment", "towerhall"), the("StatefulSet", "towerhall-store")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> ServerSettings:
    folder = tmp_path_factory.mktemp("secrets")
    make_secrets(folder)
    (folder / "metrics_token").write_text("a-token-of-24-characters")
    variables = {each["name"]: each["value"] for each in container_of(SERVERS)["env"]}
    environ = {name: placed(value, folder) for name, value in variables.items()}
    # The image says the rest.
    return read_settings(environ | {"HOME": "nowhere", "TOWERHALL_HOST": "0.0.0.0"}, {})


def test_each_thing_has_its_name_and_its_place() -> None:
    for each in documents():
        assert each["metadata"]["namespace"] == "towerhall"
        for selector in (each["spec"].get("selector"), each["spec"].get("podSelector")):
            labels = selector.get("matchLabels", selector) if selector else {}
            assert labels in ({}, {"app": "towerhall"}, {"app": "towerhall-store"})
    for workload in (SERVERS, STORE):
        wanted = workload["spec"]["selector"]["matchLabels"]
        assert workload["spec"]["template"]["metadata"]["labels"] == wanted


def test_the_store_runs_as_in_the_compose_file() -> None:
    container = container_of(STORE)
    assert container["image"] == image_of("store")
    # It follows no other engine, so it needs no password for that, and no name.
    assert container["args"] == ["valkey-server", *store_flags()[3:]]
    assert store_flags()[1:3] == ["--replica-announce-ip", "store"]


def test_servers_find_the_store_and_what_the_compose_file_gives_them(
    settings: ServerSettings,
) -> None:
    assert "@towerhall-store:6379/0" in settings.redis_url
    ports = [each["port"] for each in the("Service", "towerhall-store")["spec"]["ports"]]
    assert ports == [6379]
    own = {each["name"] for each in container_of(SERVERS)["env"]}
    (others, *_) = (environment(service, {}) for service in servers().values())
    optional = {"TOWERHALL_LOG_ORIGIN", "TOWERHALL_WITNESSES", "TOWERHALL_ORIGINS"}
    assert set(others) - own == optional | {"TOWERHALL_KEEP_DAYS"}
    assert settings.require_durable
    assert settings.trusted_proxies
    assert settings.metrics_host == "0.0.0.0"


def test_every_secret_is_a_file_of_the_one_secret(tmp_path: Path) -> None:
    make_secrets(tmp_path)
    made = {path.name for path in tmp_path.iterdir()} | {"metrics_token"}
    mounted = set()
    for workload in (SERVERS, STORE):
        (mount,) = (
            each
            for each in container_of(workload)["volumeMounts"]
            if each["mountPath"] == SECRETS and each["readOnly"]
        )
        (volume,) = (v for v in pod_of(workload)["volumes"] if v["name"] == mount["name"])
        assert volume["secret"]["secretName"] == "towerhall"
        mounted |= {item["key"] for item in volume["secret"]["items"]}
        assert all(item["key"] == item["path"] for item in volume["secret"]["items"])
    assert mounted == made - {"keeper_password", "store_config", "sentinel_config"}


def test_a_server_has_time_to_drain_and_others_stay(settings: ServerSettings) -> None:
    grace = pod_of(SERVERS)["terminationGracePeriodSeconds"]
    leaving = NOTICE_SECONDS + GO_WITHIN_MS / 1000 + CLOSING_SECONDS
    assert grace > leaving + settings.drain_seconds
    rolling = SERVERS["spec"]["strategy"]["rollingUpdate"]
    assert rolling == {"maxSurge": 1, "maxUnavailable": 0}
    budget = the("PodDisruptionBudget", "towerhall")["spec"]
    assert 0 < budget["minAvailable"] < SERVERS["spec"]["replicas"]
    readiness = container_of(SERVERS)["readinessProbe"]
    assert readiness["periodSeconds"] * readiness["failureThreshold"] < NOTICE_SECONDS


def test_probes_ask_the_addresses_of_the_server(settings: ServerSettings) -> None:
    container = container_of(SERVERS)
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert ports == {"http": settings.port, "metrics": settings.metrics_port}
    assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "http"}
    assert container["startupProbe"]["httpGet"] == {"path": "/healthz", "port": "http"}
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz?watch", "port": "http"}
    for service, path in (("towerhall", "http"), ("towerhall-store", "valkey")):
        (port,) = the("Service", service)["spec"]["ports"]
        assert port["targetPort"] == path
    (rule,) = the("Ingress", "towerhall")["spec"]["rules"]
    assert rule["host"] in settings.hosts


@pytest.mark.parametrize("workload", [SERVERS, STORE], ids=["servers", "store"])
def test_nothing_runs_as_root_or_writes_outside_of_its_disk(workload: Document) -> None:
    pod, container = pod_of(workload), container_of(workload)
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["limits"]["memory"]
    if workload is SERVERS:
        assert f"USER {pod['securityContext']['runAsUser']}:" in DOCKERFILE.read_text()


def test_only_servers_reach_the_store() -> None:
    policy = the("NetworkPolicy", "towerhall-store")["spec"]
    assert policy["podSelector"]["matchLabels"] == STORE["spec"]["selector"]["matchLabels"]
    ((rule,),) = ([each["from"] for each in policy["ingress"]],)
    assert rule == [{"podSelector": {"matchLabels": SERVERS["spec"]["selector"]["matchLabels"]}}]


@pytest.fixture(scope="module")
def problems_of(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[Document], list[str]]]:
    """Judges a document by the strict schema of its kind, which refuses unknown keys."""
    folder = tmp_path_factory.mktemp("schemas")
    fetch = [*(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"), VALIDATOR]
    subprocess.run(fetch, cwd=folder, check=True)
    (wheel,) = folder.glob("*.whl")
    with ZipFile(wheel) as packed:

        def schema(name: str) -> Any:
            return json.loads(packed.read(SCHEMAS + name))

        shared = DRAFT202012.create_resource(schema("_definitions.json"))
        registry = Registry[Any]().with_resource("/api/_definitions.json", shared)

        def problems(document: Document) -> list[str]:
            group, _, version = document["apiVersion"].rpartition("/")
            kind = [document["kind"].lower(), *group.split(".")[:1], version]
            own = schema("-".join(filter(None, kind)) + ".json")
            found = Draft202012Validator(own, registry=registry).iter_errors(document)
            return [f"{kind[0]}: {problem.json_path}: {problem.message}" for problem in found]

        yield problems


@pytest.mark.timeout(240)
def test_the_schemas_of_kubernetes_take_every_document(
    problems_of: Callable[[Document], list[str]],
) -> None:
    found = list(documents())
    assert len(found) > 5
    assert [problem for each in found for problem in problems_of(each)] == []
    for change in ({"replicas": "three"}, {"replica": 3}):
        wrong = deepcopy(SERVERS)
        wrong["spec"] |= change
        assert problems_of(wrong) != []
