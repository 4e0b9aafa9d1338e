"""Connections that the server accepts send small messages at once, and other sockets are left alone."""

import os
import socket
import sys

import pytest

from ui.server.nodelay import send_at_once


@pytest.mark.skipif(not os.path.isdir("/dev/fd") or sys.platform == "win32", reason="no list of open files here")
def test_accepted_connections_do_not_wait() -> None:
    with socket.create_server(("127.0.0.1", 0)) as entry, socket.socket() as idle:
        opened = os.listdir("/dev/fd")
        send_at_once()
        assert os.listdir("/dev/fd") == opened
        with socket.create_connection(entry.getsockname()) as caller:
            accepted, _ = entry.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert not caller.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert not idle.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
