"""A model's config.json from the Hugging Face hub, by its id, in one sentence where that fails."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from rope_core.errors import ConfigError
from rope_core.hf.read import MAX_BYTES, parse_json_object

NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]{0,94}[A-Za-z0-9])?", re.ASCII)
REVISION = re.compile(r"[\w./-]{1,100}", re.ASCII)
FILE = "config.json"
# What a model is read from: no pickle files, no code.
MODEL_FILES = ["*.safetensors", "*.json", "tokenizer.model", "*.tiktoken", "*.txt"]
# Seconds without a byte, and for the whole file.
TIMEOUT, PATIENCE = 10.0, 30.0
REDIRECTS = 5
HTTP_LIBRARIES = {"httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3"}


def split_id(text: str) -> tuple[str, str | None]:
    """Return the repository and the revision of ``org/name[@revision]``, or raise ConfigError.

    >>> split_id("meta-llama/Llama-3.1-8B@main")
    ('meta-llama/Llama-3.1-8B', 'main')
    """
    repository, mark, revision = text.partition("@")
    parts = repository.split("/")
    if len(parts) != 2 or not all(NAME.fullmatch(part) and "--" not in part and ".." not in part for part in parts):
        raise ConfigError("model id", "hub_id", text)
    if mark and (not REVISION.fullmatch(revision) or ".." in revision):
        raise ConfigError("model id", "hub_id", text)
    return repository, revision or None


def is_model_id(text: str) -> bool:
    """Whether ``text`` has the form of a hub id.

    >>> is_model_id("Qwen/Qwen3-8B"), is_model_id("./config.json"), is_model_id("a/b/config.json")
    (True, False, False)
    """
    try:
        split_id(text)
    except ConfigError:
        return False
    return not text.endswith(".json")


def fetch_config(model_id: str) -> dict[str, Any]:
    """Return the config.json of ``org/name[@revision]`` on the hub, or on the mirror that HF_ENDPOINT names.

    Raises:
        ConfigError: on a malformed id, without huggingface_hub or a network, on a model that is not there or not
            open, and on a file that is too large or no config.

    Nothing of a login on this machine is sent, and no other host is called: a redirect to one is refused.
    """
    repository, revision = split_id(model_id)
    with client(repository, revision, FILE) as hub:
        return parse_json_object(download(hub.hf_hub_url(repository, FILE, revision=revision, endpoint=hub_address())))


def download_model(model_id: str) -> Path:
    """Return the folder of a model's safetensors, config and tokenizer, fetched by huggingface_hub with its login.

    No pickle file and no code is fetched. Raises ConfigError as ``fetch_config`` does.
    """
    repository, revision = split_id(model_id)
    with client(repository, revision, "*.safetensors") as hub:
        return Path(
            hub.snapshot_download(repository, revision=revision, allow_patterns=MODEL_FILES, endpoint=hub_address())
        )


@contextmanager
def client(repository: str, revision: str | None, file: str) -> Iterator[Any]:
    """Hand over huggingface_hub, and turn what it raises into one sentence."""
    try:
        import huggingface_hub
        from huggingface_hub import errors
    except ImportError:
        raise ConfigError.from_key("hub_package") from None
    try:
        yield huggingface_hub
    except ConfigError:
        raise
    except (errors.OfflineModeIsEnabled, errors.LocalEntryNotFoundError):
        raise unreachable() from None
    except errors.GatedRepoError:
        raise ConfigError.from_key("hub_login", repository=repository) from None
    except errors.RevisionNotFoundError:
        raise ConfigError.from_key("hub_revision", repository=repository, revision=revision) from None
    except errors.RepositoryNotFoundError:
        raise ConfigError.from_key("hub_missing", repository=repository, endpoint=hub_address()) from None
    except errors.EntryNotFoundError:
        raise ConfigError.from_key("hub_file", repository=repository, file=file) from None
    except errors.HfHubHTTPError as error:
        status = getattr(error.response, "status_code", "no")
        raise ConfigError.from_key(
            "hub_status", endpoint=hub_address(), status=status, repository=repository, file=file
        ) from None
    except Exception as error:
        if not from_network(error):
            raise
        raise unreachable() from None


def download(url: str) -> bytes:
    """Return one small file, by redirects within its host only; at most MAX_BYTES, within PATIENCE seconds."""
    from huggingface_hub.utils import build_hf_headers, get_session, hf_raise_for_status

    until = time.monotonic() + PATIENCE
    headers = build_hf_headers(token=False, headers={"Accept-Encoding": "identity"})
    for _ in range(REDIRECTS):
        with get_session().stream("GET", url, headers=headers, follow_redirects=False, timeout=TIMEOUT) as answer:
            if not answer.has_redirect_location:
                if answer.is_error:
                    answer.read()
                hf_raise_for_status(answer)
                return read_limited_body(answer, until)
            onward = urljoin(url, answer.headers["location"])
        if urlsplit(onward)[:2] != urlsplit(url)[:2]:
            break
        url = onward
    raise ConfigError.from_key("hub_redirect", endpoint=hub_address(), file=FILE)


def read_limited_body(answer: Any, until: float) -> bytes:
    """Return what an answer holds, or ConfigError where it is too long, packed, or not there in time."""
    size = int(answer.headers.get("content-length") or 0)
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise ConfigError.from_key("hub_encoding", file=FILE, encoding=answer.headers["content-encoding"][:40])
    body = bytearray()
    if size <= MAX_BYTES:
        for part in answer.iter_raw():
            body += part
            if len(body) > MAX_BYTES:
                break
            if time.monotonic() > until:
                raise unreachable()
    if max(size, len(body)) > MAX_BYTES:
        raise ConfigError(FILE, "at_most_bytes", max(size, len(body)), limit=MAX_BYTES)
    return bytes(body)


def unreachable() -> ConfigError:
    """Return the sentence for a machine without a way to the hub."""
    return ConfigError.from_key("hub_unreachable", endpoint=hub_address())


def from_network(error: Exception) -> bool:
    """Whether the operating system or the client's HTTP library raised it; which library depends on its version."""
    kinds = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return isinstance(error, OSError) or bool(kinds & HTTP_LIBRARIES)


def hub_address() -> str:
    """Return the hub's address: HF_ENDPOINT, read at each call, or the public one."""
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")
