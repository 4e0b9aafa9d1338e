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
    except ImportError:
        raise ConfigError("reading a model id needs the package huggingface_hub: pip install huggingface_hub") from None
    try:
        huggingface_hub.utils.disable_progress_bars()
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
    except errors.GatedRepoError:
        raise ConfigError(f"{repository} asks for a login: download its config.json yourself and paste it") from None
    except errors.RevisionNotFoundError:
        raise ConfigError(f"{repository} has no revision {revision}") from None
    except errors.RepositoryNotFoundError:
        raise ConfigError(f"{repository} is not on {endpoint()}, or not open") from None
    except errors.EntryNotFoundError:
        raise ConfigError(f"{repository} has no config.json") from None
    except Exception as error:
        # The client raises its HTTP library's own exceptions, which differ between its versions.
        raise ConfigError(f"{endpoint()} cannot be reached from this machine ({type(error).__name__})") from None


def endpoint() -> str:
    """The hub's address: HF_ENDPOINT, read when asked, or the public one."""
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")
