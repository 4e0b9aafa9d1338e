"""Who is here, as far as a class's votes and a server's queue need it: a browser, an address, a tab; no name."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping

import streamlit as st
from streamlit import config
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.work.jobs import ADDRESS, TAB, VISITOR
from ui.work.session import Session

PLACE, XSRF = "rope_place", "_streamlit_xsrf"


def identify(session: Session) -> None:
    """Note in a session, once, which browser, address and tab it belongs to."""
    if VISITOR in session:
        return
    address = st.context.ip_address or ""
    context = get_script_run_ctx()
    session[VISITOR] = browser(st.context.cookies.to_dict(), address)
    session[ADDRESS] = hidden("address", address) if address else ""
    session[TAB] = context.session_id if context else ""


def browser(cookies: Mapping[str, str], address: str) -> str:
    """Return 32 letters that are the same in all tabs of a browser: by its cookie, without one by its address.

    Cookies that this app cannot have set are no visitors: without an address all of them are one.
    Of Streamlit's own cookie, which is masked anew with every answer, the part below the mask counts.
    """
    if re.fullmatch(r"[\w.|-]{16,200}", place := cookies.get(PLACE, "")):
        return hidden("place", place)
    if match := re.fullmatch(r'"?2\|([0-9a-f]{8})\|((?:[0-9a-f]{2}){8,64})\|\d+"?', cookies.get(XSRF, "")):
        mask, masked = (bytes.fromhex(part) for part in match.groups())
        return hidden("token", bytes(byte ^ mask[at % 4] for at, byte in enumerate(masked)).hex())
    return hidden("address", address) if address or PLACE in cookies else secrets.token_hex(16)


def hidden(kind: str, text: str) -> str:
    """Return 32 letters for a text, which give it away only to who has the secret that all replicas share."""
    secret = str(config.get_option("server.cookieSecret")).encode()[:64]
    return hashlib.blake2b(f"{kind} {text}".encode(), digest_size=16, key=secret).hexdigest()
