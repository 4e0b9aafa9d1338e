"""The container file and the Kubernetes manifest, as far as they can be held without either of them at hand."""

import re
import shlex
import tomllib
from pathlib import Path
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
    spec = manifest("Deployment")["spec"]
    (app,) = spec["template"]["spec"]["containers"]
    probes = {name: app[name]["httpGet"]["path"] for name in ("startupProbe", "readinessProbe", "livenessProbe")}
    assert probes["readinessProbe"] == probes["startupProbe"] == "/_stcore/script-health-check"
    assert probes["livenessProbe"] == "/_stcore/health"
    assert spec["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    assert set(app["resources"]["limits"]) == {"cpu", "memory"}
    assert manifest("PodDisruptionBudget")["spec"]["maxUnavailable"] == 1
    assert manifest("Service")["spec"]["selector"] == spec["template"]["metadata"]["labels"]


def test_pods_have_no_rights_and_one_secret() -> None:
    pod = manifest("Deployment")["spec"]["template"]["spec"]
    (app,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True and pod["automountServiceAccountToken"] is False
    assert app["securityContext"]["readOnlyRootFilesystem"] is True
    assert app["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    (secret,) = [each for each in app["env"] if each["name"] == "STREAMLIT_SERVER_COOKIE_SECRET"]
    assert secret["valueFrom"]["secretKeyRef"]["name"] == "rope-lab"
    writable = [each["mountPath"] for each in app["volumeMounts"]]
    assert writable == ["/tmp"]


def test_the_ingress_keeps_visitors_on_their_pod_and_hides_the_operators_paths() -> None:
    ingress = manifest("Ingress")
    notes = {key.rsplit("/", 1)[1]: value for key, value in ingress["metadata"]["annotations"].items()}
    assert (notes["affinity"], notes["session-cookie-name"]) == ("cookie", "rope_place")
    assert notes["proxy-body-size"] == f"{UPLOAD_MIB}m"
    assert int(notes["proxy-read-timeout"]) >= 3600
    (rule,) = ingress["spec"]["rules"]
    goes = {path["path"]: path["backend"]["service"]["name"] for path in rule["http"]["paths"]}
    assert goes["/"] == "rope-lab"
    assert goes["/_stcore/metrics"] == goes["/_stcore/script-health-check"] == "nothing"
    assert ingress["spec"]["tls"][0]["hosts"] == [rule["host"]]
    (hosts,) = [
        each["value"]
        for each in manifest("Deployment")["spec"]["template"]["spec"]["containers"][0]["env"]
        if each["name"] == "STREAMLIT_SERVER_ALLOWED_HOSTS"
    ]
    assert hosts == rule["host"]


def test_the_container_runs_without_root_and_holds_what_the_app_imports() -> None:
    (user,) = steps("USER")
    assert user == "10001:10001"
    assert manifest("Deployment")["spec"]["template"]["spec"]["securityContext"]["runAsUser"] == 10001
    copied = {source for step in steps("COPY") if not step.startswith("--from") for source in shlex.split(step)[:-1]}
    assert {"app.py", ".streamlit", "deploy", "pages", "rope_core", "ui"} <= copied
    assert all((ROOT / source).exists() for source in copied)
    imported = set()
    for path in [
        ROOT / "app.py",
        *(p for folder in ("pages", "rope_core", "ui") for p in (ROOT / folder).rglob("*.py")),
    ]:
        imported |= set(re.findall(r"^\s*(?:from|import) (\w+)", path.read_text("utf-8"), re.MULTILINE))
    own = {path.stem if path.suffix else path.name for path in ROOT.iterdir() if path.name[0] != "."}
    assert {name for name in imported & own if (ROOT / name).is_dir()} <= copied


def test_the_container_is_checked_by_running_the_script() -> None:
    (check,) = steps("HEALTHCHECK")
    assert "/_stcore/script-health-check" in check
    port = re.search(r"127\.0\.0\.1:(\d+)", check)
    assert port is not None and steps("EXPOSE") == [port[1]]
    assert shlex.split(steps("CMD")[0].strip("[]").replace(",", " ")) == ["python", "-m", "deploy.replica"]
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["server"]
    assert int(port[1]) == settings["port"] and "STREAMLIT_SERVER_ADDRESS=0.0.0.0" in steps("ENV")[0]
    assert manifest("Deployment")["spec"]["template"]["spec"]["containers"][0]["ports"][0]["containerPort"] == int(
        port[1]
    )


def test_base_images_and_packages_are_pinned() -> None:
    images = [line.split()[1] for line in LINES if line.startswith("FROM")]
    assert all(re.fullmatch(r"python:3\.\d+-slim-\w+", image) for image in images)
    wanted = [line for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines() if line and line[0] != "#"]
    assert all("==" in line for line in wanted)
    assert Path(ROOT / "deploy" / "Containerfile").read_text("utf-8").count("requirements.txt") >= 2


def test_the_ingress_sends_the_headers_and_nobody_else_reaches_a_pod() -> None:
    headers = manifest("ConfigMap", "headers")["data"]
    notes = manifest("Ingress")["metadata"]["annotations"]
    assert notes["nginx.ingress.kubernetes.io/custom-headers"] == "rope-lab/headers"
    assert headers["Permissions-Policy"] == ", ".join(f"{feature}=()" for feature in FEATURES)
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "same-origin"
    assert "frame-ancestors 'self'" in headers["Content-Security-Policy"]
    spec = manifest("NetworkPolicy")["spec"]
    pod = manifest("Deployment")["spec"]["template"]
    assert spec["podSelector"]["matchLabels"] == pod["metadata"]["labels"]
    assert set(spec["policyTypes"]) == {"Ingress", "Egress"}
    ((ingress,), (port,)) = spec["ingress"][0]["from"], spec["ingress"][0]["ports"]
    assert ingress["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "ingress-nginx"}
    assert port["port"] == pod["spec"]["containers"][0]["ports"][0]["containerPort"]
    (_, outside) = spec["egress"]
    assert "169.254.0.0/16" in outside["to"][0]["ipBlock"]["except"] and outside["ports"] == [
        {"protocol": "TCP", "port": 443}
    ]


def test_the_image_is_named_by_the_version() -> None:
    assert manifest("Deployment")["spec"]["template"]["spec"]["containers"][0]["image"] == f"rope-lab:{__version__}"
