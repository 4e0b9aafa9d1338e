"""Small messages leave at once: without this, half of them wait 40 ms for the browser to acknowledge the one before."""

from __future__ import annotations

import contextlib
import os
import socket


def send_at_once() -> None:
    """Switch Nagle's algorithm off for connections that this process's listening sockets will accept.

    Streamlit binds its socket without naming the protocol, and asyncio switches Nagle off only where TCP is named.
    A connection inherits the setting from the socket that accepts it.
    """
    for name in os.listdir("/dev/fd"):
        with contextlib.suppress(OSError):
            own = os.dup(int(name))
            try:
                switch_off_nagle(own)
            finally:
                os.close(own)


def switch_off_nagle(number: int) -> None:
    """Switch Nagle's algorithm off where an open file is a TCP socket that listens."""
    opened = socket.socket(fileno=number)
    try:
        internet = opened.family in (socket.AF_INET, socket.AF_INET6) and opened.type == socket.SOCK_STREAM
        if internet and opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    finally:
        opened.detach()
