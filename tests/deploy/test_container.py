"""The container file and the Kubernetes manifest, as far as they can be held without either of them at hand."""

import re
import shlex
import tomllib
from typing import Any

import kubernetes_validate
import pytest
import yaml

from benchmarks.servers import ROOT
from deploy.proxy import FEATURES, UPLOAD_MIB
from rope_core import __version__

OBJECTS = list(yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text("utf-8")))
LINES = (ROOT / "deploy" / "Containerfile").read_text("utf-8").replace("\\\n", " ").splitlines()


def manifest(kind: str, name: str = "rope-lab") -> Any:
    """Return the manifest's object of that kind and name."""
    (single,) = [each for each in OBJECTS if each["kind"] == kind and each["metadata"]["name"] == name]
    return single


SPEC = manifest("Deployment")["spec"]
POD = SPEC["template"]["spec"]
(APP,) = POD["containers"]
(PORT,) = (each["containerPort"] for each in APP["ports"])
ENVIRONMENT = {each["name"]: each for each in APP["env"]}


def steps(word: str) -> list[str]:
    """Return what follows an instruction's name, line by line, in the last stage of the container file."""
    last = max(at for at, line in enumerate(LINES) if line.startswith("FROM"))
    return [line.split(" ", 1)[1] for line in LINES[last:] if line.startswith(f"{word} ")]


@pytest.mark.parametrize("version", ["1.27", "1.37"])
def test_every_object_is_what_kubernetes_takes(version: str) -> None:
    for each in OBJECTS:
        kubernetes_validate.validate(each, version, strict=True)
    broken = manifest("Deployment") | {"spec": {"replica": 4}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, version, strict=True)


def test_pods_are_ready_when_the_script_runs_and_are_replaced_one_at_a_time() -> None:
    probes = [APP[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "readiness", "liveness")]
    assert probes == ["/_stcore/script-health-check"] * 2 + ["/_stcore/health"]
    assert SPEC["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    assert set(APP["resources"]["limits"]) == {"cpu", "memory"} and APP["image"] == f"rope-lab:{__version__}"
    assert manifest("PodDisruptionBudget")["spec"]["maxUnavailable"] == 1
    assert manifest("Service")["spec"]["selector"] == SPEC["template"]["metadata"]["labels"]


def test_pods_have_no_rights_and_one_secret() -> None:
    assert POD["securityContext"]["runAsNonRoot"] is True and POD["automountServiceAccountToken"] is False
    assert APP["securityContext"]["readOnlyRootFilesystem"] is True
    assert APP["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert ENVIRONMENT["STREAMLIT_SERVER_COOKIE_SECRET"]["valueFrom"]["secretKeyRef"]["name"] == "rope-lab"
    assert [each["mountPath"] for each in APP["volumeMounts"]] == ["/tmp"]


def test_the_ingress_keeps_visitors_on_their_pod_and_hides_the_operators_paths() -> None:
    ingress = manifest("Ingress")
    notes = {key.rsplit("/", 1)[1]: value for key, value in ingress["metadata"]["annotations"].items()}
    assert (notes["affinity"], notes["session-cookie-name"]) == ("cookie", "rope_place")
    assert notes["proxy-body-size"] == f"{UPLOAD_MIB}m" and int(notes["proxy-read-timeout"]) >= 3600
    (rule,) = ingress["spec"]["rules"]
    goes = {path["path"]: path["backend"]["service"]["name"] for path in rule["http"]["paths"]}
    assert goes["/"] == "rope-lab"
    assert goes["/_stcore/metrics"] == goes["/_stcore/script-health-check"] == "nothing"
    assert ingress["spec"]["tls"][0]["hosts"] == [rule["host"]]
    assert ENVIRONMENT["STREAMLIT_SERVER_ALLOWED_HOSTS"]["value"] == rule["host"]


def test_the_container_runs_without_root_and_holds_what_the_app_imports() -> None:
    assert steps("USER") == ["10001:10001"] and POD["securityContext"]["runAsUser"] == 10001
    copied = {source for step in steps("COPY") if not step.startswith("--from") for source in shlex.split(step)[:-1]}
    assert {"app.py", ".streamlit", "deploy", "pages", "rope_core", "ui"} <= copied
    assert all((ROOT / source).exists() for source in copied)
    paths = [ROOT / "app.py", *(path for room in ("pages", "rope_core", "ui") for path in (ROOT / room).rglob("*.py"))]
    imported = (re.findall(r"^\s*(?:from|import) (\w+)", path.read_text("utf-8"), re.MULTILINE) for path in paths)
    assert {name for names in imported for name in names if (ROOT / name).is_dir()} <= copied


def test_the_container_is_checked_by_running_the_script() -> None:
    (check,) = steps("HEALTHCHECK")
    assert f"127.0.0.1:{PORT}/_stcore/script-health-check" in check and steps("EXPOSE") == [str(PORT)]
    assert shlex.split(steps("CMD")[0].strip("[]").replace(",", " ")) == ["python", "-m", "deploy.replica"]
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["server"]
    assert settings["port"] == PORT and "STREAMLIT_SERVER_ADDRESS=0.0.0.0" in steps("ENV")[0]


def test_base_images_and_packages_are_pinned() -> None:
    images = [line.split()[1] for line in LINES if line.startswith("FROM")]
    assert all(re.fullmatch(r"python:3\.\d+-slim-\w+", image) for image in images)
    wanted = [line for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines() if line and line[0] != "#"]
    assert all("==" in line for line in wanted) and "\n".join(LINES).count("requirements.txt") >= 2


def test_the_ingress_sends_the_headers_and_nobody_else_reaches_a_pod() -> None:
    headers = manifest("ConfigMap", "headers")["data"]
    notes = manifest("Ingress")["metadata"]["annotations"]
    assert notes["nginx.ingress.kubernetes.io/custom-headers"] == "rope-lab/headers"
    assert headers["Permissions-Policy"] == ", ".join(f"{feature}=()" for feature in FEATURES)
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "same-origin"
    assert "frame-ancestors 'self'" in headers["Content-Security-Policy"]
    spec = manifest("NetworkPolicy")["spec"]
    assert spec["podSelector"]["matchLabels"] == SPEC["template"]["metadata"]["labels"]
    assert set(spec["policyTypes"]) == {"Ingress", "Egress"}
    ((ingress,), (port,)) = spec["ingress"][0]["from"], spec["ingress"][0]["ports"]
    assert ingress["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "ingress-nginx"}
    assert port["port"] == PORT
    (_, outside) = spec["egress"]
    assert outside["ports"] == [{"protocol": "TCP", "port": 443}]
    assert "169.254.0.0/16" in outside["to"][0]["ipBlock"]["except"]
