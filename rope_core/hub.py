"""A model's config.json from the Hugging Face hub, by its id, in one sentence where that fails."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any

from rope_core.errors import ConfigError
from rope_core.hf_read import MAX_BYTES, parse, read_file

NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]{0,94}[A-Za-z0-9])?", re.ASCII)
REVISION = re.compile(r"[\w./-]{1,100}", re.ASCII)
TIMEOUT = 10.0
HTTP_LIBRARIES = {"httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3"}


def split_id(text: str) -> tuple[str, str | None]:
    """Return the repository and the revision of ``org/name[@revision]``, or raise ConfigError.

    >>> split_id("meta-llama/Llama-3.1-8B@main")
    ('meta-llama/Llama-3.1-8B', 'main')
    """
    rule = "org/name or org/name@revision"
    repository, mark, revision = text.partition("@")
    parts = repository.split("/")
    if len(parts) != 2 or not all(NAME.fullmatch(part) and "--" not in part and ".." not in part for part in parts):
        raise ConfigError(f"model id must be {rule}, got {text[:120]!r}")
    if mark and (not REVISION.fullmatch(revision) or ".." in revision):
        raise ConfigError(f"model id must be {rule}, got {text[:120]!r}")
    return repository, revision or None


def looks_like_id(text: str) -> bool:
    """Whether ``text`` has the form of a hub id.

    >>> looks_like_id("Qwen/Qwen3-8B"), looks_like_id("./config.json"), looks_like_id("a/b/config.json")
    (True, False, False)
    """
    try:
        split_id(text)
    except ConfigError:
        return False
    return not text.endswith(".json")


def fetch(model_id: str) -> dict[str, Any]:
    """Return the config.json of ``org/name[@revision]`` on the hub, or on the mirror that HF_ENDPOINT names.

    Raises:
        ConfigError: on a malformed id, without huggingface_hub or a network, on a model that is not there or not
            open, and on a file that is too large or no config.

    The file goes through a folder of its own that is removed; nothing of a login on this machine is sent.
    """
    repository, revision = split_id(model_id)
    try:
        import huggingface_hub
        from huggingface_hub import errors
        from huggingface_hub.utils import disable_progress_bars
    except ImportError:
        raise ConfigError("reading a model id needs the package huggingface_hub: pip install huggingface_hub") from None
    try:
        disable_progress_bars()
        url = huggingface_hub.hf_hub_url(repository, "config.json", revision=revision, endpoint=endpoint())
        size = huggingface_hub.get_hf_file_metadata(url, timeout=TIMEOUT, token=False, endpoint=endpoint()).size
        if size is not None and size > MAX_BYTES:
            raise ConfigError(f"config.json must be at most {MAX_BYTES} bytes, got {size}")
        with tempfile.TemporaryDirectory() as folder:
            path = huggingface_hub.hf_hub_download(
                repository,
                "config.json",
                revision=revision,
                cache_dir=folder,
                endpoint=endpoint(),
                etag_timeout=TIMEOUT,
                token=False,
            )
            return parse(read_file(Path(path)))
    except ConfigError:
        raise
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled):
        raise unreachable() from None
    except errors.GatedRepoError:
        raise ConfigError(f"{repository} asks for a login: download its config.json yourself and paste it") from None
    except errors.RevisionNotFoundError:
        raise ConfigError(f"{repository} has no revision {revision}") from None
    except errors.RepositoryNotFoundError:
        raise ConfigError(f"{repository} is not on {endpoint()}, or not open") from None
    except errors.EntryNotFoundError:
        raise ConfigError(f"{repository} has no config.json") from None
    except errors.HfHubHTTPError as error:
        status = getattr(error.response, "status_code", "no")
        raise ConfigError(f"{endpoint()} answers {status} instead of {repository}'s config.json") from None
    except Exception as error:
        if not from_network(error):
            raise
        raise unreachable() from None


def unreachable() -> ConfigError:
    """The sentence for a machine without a way to the hub."""
    return ConfigError(f"{endpoint()} cannot be reached from this machine: upload or paste the config.json instead")


def from_network(error: Exception) -> bool:
    """Whether the operating system or the client's HTTP library raised it; which library depends on its version."""
    kinds = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return isinstance(error, OSError) or bool(kinds & HTTP_LIBRARIES)


def endpoint() -> str:
    """The hub's address: HF_ENDPOINT, read when asked, or the public one."""
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")
