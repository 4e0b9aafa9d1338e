"""The container files and the Kubernetes manifest, as far as they can be held without either of them at hand."""

import re
import shlex
import tomllib
from typing import Any

import kubernetes_validate
import pytest
import yaml

from benchmarks.servers import ROOT
from rope_core import __version__

OBJECTS = list(yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text("utf-8")))
FILES = {"hall": "Containerfile", "app": "App.Containerfile"}
ENTRIES = {"hall": ["python", "-m", "deploy", "book"], "app": ["streamlit", "run", "app.py"]}
LOCKS = {"hall": "requirements-book.lock", "app": "requirements.lock"}


def manifest(kind: str, name: str) -> Any:
    """Return the manifest's object of that kind and name."""
    (single,) = [each for each in OBJECTS if each["kind"] == kind and each["metadata"]["name"] == name]
    return single


WORKLOADS = {"hall": manifest("StatefulSet", "hall"), "app": manifest("Deployment", "rope-lab")}


def lines(which: str) -> list[str]:
    """Return the instructions of a container file."""
    return (ROOT / "deploy" / FILES[which]).read_text("utf-8").replace("\\\n", " ").splitlines()


def steps(which: str, word: str) -> list[str]:
    """Return what follows an instruction's name, line by line, in the last stage of a container file."""
    last = max(at for at, line in enumerate(lines(which)) if line.startswith("FROM"))
    return [line.split(" ", 1)[1] for line in lines(which)[last:] if line.startswith(f"{word} ")]


def pod(which: str) -> tuple[Any, Any]:
    """Return a workload's pod and its container."""
    spec = WORKLOADS[which]["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    return spec, container


@pytest.mark.parametrize("version", ["1.27", "1.37"])
def test_every_object_is_what_kubernetes_takes(version: str) -> None:
    for each in OBJECTS:
        kubernetes_validate.validate(each, version, strict=True)
    broken = WORKLOADS["app"] | {"spec": {"replica": 4}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, version, strict=True)


@pytest.mark.parametrize("which", FILES)
def test_pods_and_containers_have_no_rights(which: str) -> None:
    spec, container = pod(which)
    assert spec["securityContext"]["runAsNonRoot"] is True and spec["automountServiceAccountToken"] is False
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert set(container["resources"]["limits"]) == {"cpu", "memory"}
    assert container["image"].rpartition(":")[2] == __version__
    assert steps(which, "USER") == ["10001:10001"] and spec["securityContext"]["runAsUser"] == 10001
    (port,) = container["ports"]
    assert steps(which, "EXPOSE") == [str(port["containerPort"])]


@pytest.mark.parametrize("which", FILES)
def test_a_container_holds_what_its_entry_imports(which: str) -> None:
    copied = {
        source for step in steps(which, "COPY") if not step.startswith("--from") for source in shlex.split(step)[:-1]
    }
    assert all((ROOT / source).exists() for source in copied - {"build/book"})
    folders = copied & {"deploy", "pages", "rope_core", "ui"}
    paths = [
        path for room in folders for path in (ROOT / room).rglob("*.py") if which == "app" or "ui/hall" in str(path)
    ]
    imported = (re.findall(r"^\s*(?:from|import) (\w+)", path.read_text("utf-8"), re.MULTILINE) for path in paths)
    assert {name for names in imported for name in names if (ROOT / name).is_dir()} <= copied
    assert shlex.split(steps(which, "CMD")[0].strip("[]").replace(",", " ")) == ENTRIES[which]
    assert LOCKS[which] in "\n".join(lines(which))
    images = [line.split()[1] for line in lines(which) if line.startswith("FROM")]
    assert all(re.fullmatch(r"python:3\.\d+-slim-\w+", image) for image in images)


def test_the_hall_is_one_process_with_a_volume_for_its_rooms() -> None:
    assert WORKLOADS["hall"]["spec"]["replicas"] == 1
    _, container = pod("hall")
    assert [each["mountPath"] for each in container["volumeMounts"]] == ["/data"]
    assert "ROPE_LAB_ROOMS=/data/rooms.sqlite3" in steps("hall", "ENV")[0] and steps("hall", "VOLUME") == ["/data"]
    (rule,) = manifest("Ingress", "hall")["spec"]["rules"]
    assert container["args"][-2:] == ["--hosts", rule["host"]]
    assert container["args"][:4] == ENTRIES["hall"]
    assert container["readinessProbe"]["httpGet"]["httpHeaders"][0]["value"] == rule["host"]


def test_the_app_is_ready_when_its_script_runs_and_keeps_visitors_on_their_pod() -> None:
    _, container = pod("app")
    probes = [container[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "readiness", "liveness")]
    assert probes == ["/_stcore/script-health-check"] * 2 + ["/_stcore/health"]
    ingress = manifest("Ingress", "rope-lab")
    notes = {key.rsplit("/", 1)[1]: value for key, value in ingress["metadata"]["annotations"].items()}
    assert notes["affinity"] == "cookie" and int(notes["proxy-read-timeout"]) >= 3600
    environment = {each["name"]: each for each in container["env"]}
    assert environment["STREAMLIT_SERVER_ALLOWED_HOSTS"]["value"] == ingress["spec"]["rules"][0]["host"]
    assert environment["STREAMLIT_SERVER_COOKIE_SECRET"]["valueFrom"]["secretKeyRef"]["name"] == "rope-lab"
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["server"]
    assert steps("app", "EXPOSE") == [str(settings["port"])] and settings["address"] == "127.0.0.1"


def test_visitors_of_the_app_come_by_the_ingress_and_its_pods_reach_names_and_https() -> None:
    spec = manifest("NetworkPolicy", "rope-lab")["spec"]
    assert set(spec["policyTypes"]) == {"Ingress", "Egress"}
    ((ingress,), _) = spec["ingress"][0]["from"], spec["ingress"][0]["ports"]
    assert ingress["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "ingress-nginx"}
    (_, outside) = spec["egress"]
    assert outside["ports"] == [{"protocol": "TCP", "port": 443}]
    assert "169.254.0.0/16" in outside["to"][0]["ipBlock"]["except"]
