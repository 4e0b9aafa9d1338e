"""nginx before the replicas: its configuration, filled in from the settings, and the bundle compressed for it."""

import ast
import base64
import gzip
import hashlib
import os
import pwd
import re
import resource
import shutil
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path

from ui.served import access
from ui.text.words import LANGUAGES

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = Path(__file__).with_name("nginx.conf.in")
COMPRESSED = (".js", ".css", ".json", ".svg", ".wasm")
UPLOAD_MIB = 6
INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
FEATURES = (
    *("accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "magnetometer"),
    *("microphone", "midi", "payment", "usb"),
)


@dataclass(frozen=True)
class Limits:
    """How much one student, all visitors without a cookie of one address, and one address may ask for.

    Rates are requests a second, bursts are requests at once, lines are open connections, and a request's header is
    whole within some seconds. A first load is about 100
    requests and one websocket; 300 students behind one address load 30,000 requests at the start of a lecture.
    """

    student_rate: int = 30
    student_burst: int = 400
    student_lines: int = 60
    stranger_rate: int = 50
    stranger_burst: int = 600
    address_rate: int = 3000
    address_burst: int = 40_000
    address_lines: int = 6000
    upload_burst: int = 400
    student_uploads: int = 4
    address_uploads: int = 100
    header_seconds: int = 10


@dataclass(frozen=True)
class Site:
    """Where the hall is found: nginx's address, the names it answers to, who may frame it, its certificate.

    ``proxies`` are the addresses or networks whose word on a visitor's address and scheme counts.
    """

    hosts: tuple[str, ...] = ("localhost", "127.0.0.1")
    listen: str = "127.0.0.1:8080"
    frame_ancestors: str = "'self'"
    certificate: Path | None = None
    key: Path | None = None
    proxies: tuple[str, ...] = ()
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        for host in self.hosts:
            if not re.fullmatch(r"(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?", host):
                raise ValueError(f"host must be a name or an IPv4 address without a port, got {host!r}")
        if not re.fullmatch(r"[0-9.]+:\d+", self.listen):
            raise ValueError(f"listen must be ADDRESS:PORT, got {self.listen!r}")
        if not 1 <= self.port <= 65_535:
            raise ValueError(f"port must be from 1 to 65535, got {self.port}")
        if not re.fullmatch(r"[A-Za-z0-9:/.*' -]+", self.frame_ancestors):
            raise ValueError(f"frame_ancestors must be origins or 'self' or 'none', got {self.frame_ancestors!r}")
        for proxy in self.proxies:
            try:
                ip_network(proxy)
            except ValueError as error:
                raise ValueError(f"proxies must be addresses or networks, got {proxy!r}: {error}") from None
        if (self.certificate is None) != (self.key is None):
            raise ValueError("certificate must be given together with its key, got one of them")

    @property
    def port(self) -> int:
        """The port that nginx listens on."""
        return int(self.listen.partition(":")[2])

    def check(self) -> None:
        """Raise ValueError with the reason why nginx could not serve here: a certificate, a taken port."""
        if self.certificate is not None:
            try:
                ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(self.certificate, self.key)
            except (OSError, ValueError) as error:
                rule = "must be PEM files that can be read and belong together"
                raise ValueError(f"certificate and key {rule}, got {self.certificate}, {self.key}: {error}") from None
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.listen.partition(":")[0], self.port))
            except OSError as error:
                raise ValueError(f"listen must be an address that is free here, got {self.listen}: {error}") from None

    @property
    def framed_elsewhere(self) -> bool:
        """Whether pages of other origins may frame the app."""
        return self.frame_ancestors not in ("'self'", "'none'")


def policy(site: Site) -> str:
    """Return the strictest content security policy under which Streamlit and Plotly work.

    Scripts come from the server alone, the app's own inline ones by their hash. Streamlit writes its styles with
    JavaScript, which takes 'unsafe-inline' for styles; components' modules and Plotly's pictures are blobs.
    """
    scripts = " ".join(f"'sha256-{digest}'" for digest in inline_scripts(ROOT / "ui"))
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' {scripts}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "media-src 'self'",
            "worker-src 'self' blob:",
            "manifest-src 'self'",
            "form-action 'none'",
            "base-uri 'none'",
            f"frame-ancestors {site.frame_ancestors}",
        )
    )


def inline_scripts(folder: Path) -> list[str]:
    """SHA-256 in base64 of every inline script: Streamlit's, the frame's, and those that strings in ``folder`` hold."""
    texts = [(bundle() / "index.html").read_text("utf-8"), *(access.script(lang) for lang in LANGUAGES)]
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text("utf-8")
        nodes = ast.walk(ast.parse(text)) if "<script>" in text else ()
        texts += [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    # A script that is a file of its own stands between the tags as it is.
    texts += [f"<script>{path.read_text('utf-8')}</script>" for path in sorted(folder.rglob("*.js"))]
    scripts = {script for text in texts for script in INLINE.findall(text)}
    return sorted(base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)


def bundle() -> Path:
    """Streamlit's own folder of static files, found without importing Streamlit."""
    import importlib.util

    spec = importlib.util.find_spec("streamlit")
    if spec is None or spec.origin is None:
        raise ValueError("streamlit must be installed, got no such package")
    return Path(spec.origin).parent / "static"


def compress(run: Path) -> None:
    """Lay out the bundle's files in ``run``/static, each text beside its gzip, for nginx to send as they are."""
    source, target = bundle() / "static", run / "static"

    def lay_out(path: Path) -> None:
        to = target / path.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)
        if path.suffix in COMPRESSED and path.stat().st_size > 1000:
            Path(f"{to}.gz").write_bytes(gzip.compress(path.read_bytes(), 6, mtime=0))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lay_out, (path for path in source.rglob("*") if path.is_file())))


def configuration(site: Site, run: Path, replicas: int) -> str:
    """nginx's configuration for ``replicas`` sockets r0.sock, r1.sock, ... in ``run``."""
    # Embedded by another site, the cookie is a third party's: browsers keep it over TLS only, and apart for each site.
    cookie = "SameSite=Lax"
    if site.certificate:
        cookie = "Secure; SameSite=None; Partitioned" if site.framed_elsewhere else "Secure; SameSite=Lax"
    names = [f"unix:{run}/r{index}.sock max_fails=0" for index in range(replicas)]
    homes = []
    for index, name in enumerate(names):
        others = names[index + 1 :] + names[:index]
        servers = [name, *(f"{other} backup" for other in others)]
        lines = "\n".join(f"        server {server};" for server in servers)
        homes.append(f"    upstream home{index} {{\n{lines}\n    }}")
    moved = [
        f'        "~, unix:\\S*/r{i}\\.sock$" "rope_home={i}; Path=/; HttpOnly; {cookie}";' for i in range(replicas)
    ]
    slots = vars(site.limits) | {
        "user": f"user {worker()};" if os.geteuid() == 0 else "",
        "run": str(run),
        "files": min(32_768, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),
        "cookie": cookie,
        "hall": "\n".join(f"        server {name};" for name in names),
        "chosen": "\n".join(f'        "{index}" home{index};' for index in range(replicas)),
        "moved": "\n".join(moved),
        "homes": "\n".join(homes),
        "listen": f"{site.listen} ssl http2" if site.certificate else site.listen,
        "tls": tls(site),
        "hosts": " ".join(site.hosts),
        "trusted": "\n".join(f"    set_real_ip_from {proxy};" for proxy in site.proxies),
        "proxies": "\n".join(f"        {proxy} 1;" for proxy in site.proxies),
        "policy": policy(site),
        "permissions": ", ".join(f"{feature}=()" for feature in FEATURES),
        "frame": "" if site.framed_elsewhere else f"add_header X-Frame-Options {frame_options(site)} always;",
        "transport": 'add_header Strict-Transport-Security "max-age=31536000" always;' if site.certificate else "",
        "upload": UPLOAD_MIB,
    }
    return filled(TEMPLATE.read_text("utf-8"), slots)


def filled(template: str, slots: dict[str, object]) -> str:
    """``template`` with every @name@ replaced; raises KeyError for a name without a value.

    >>> filled("listen @port@;", {"port": 80})
    'listen 80;'
    """
    return re.sub(r"@(\w+)@", lambda match: str(slots[match[1]]), template)


def frame_options(site: Site) -> str:
    """Return the older header that says the same as frame-ancestors where it can."""
    return "DENY" if site.frame_ancestors == "'none'" else "SAMEORIGIN"


def tls(site: Site) -> str:
    """Return the lines that name the certificate; none without one."""
    if site.certificate is None or site.key is None:
        return ""
    return (
        f"ssl_certificate {site.certificate.resolve()}; ssl_certificate_key {site.key.resolve()}; "
        "ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:tls:10m;"
    )


def worker() -> str:
    """Return the account of nginx's workers when it is started by root."""
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "www-data" if "www-data" in known else "nobody"


def program() -> str:
    """Return the path of nginx; raises ValueError where there is none."""
    path = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/opt/homebrew/bin")
    if not path:
        raise ValueError(
            "nginx must be installed (`apt-get install nginx-light`, `brew install nginx`), got no such program"
        )
    return path
