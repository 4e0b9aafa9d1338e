"""`python -m deploy BOOK`: serve a book's folder to a hall, with rooms in which a class answers on its phones."""

import argparse
import os
import socket
import ssl
import sys
from pathlib import Path
from urllib.parse import urlsplit

import qrcode

from ui.hall.server import BACKLOG, hall_application, serve
from ui.hall.store import RoomStore, StoreUnavailable, default_rooms_path, lecturer_keys
from ui.present.addresses import local_network_address

KEYS = "lecturers.txt"


def options() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(prog="python -m deploy", description=__doc__)
    parser.add_argument("book", type=Path, help="folder that `make book` has written")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--address", default="0.0.0.0", help="address to listen on; all of this machine's by default")
    parser.add_argument("--hosts", default="", help="names under which it answers, separated by spaces; all by default")
    parser.add_argument("--site", default="", help="address of a book elsewhere whose lecturers have their rooms here")
    parser.add_argument("--certificate", type=Path, help="PEM file: serve over TLS")
    parser.add_argument("--key", type=Path, help="PEM file of the certificate's key")
    return parser.parse_args()


def announce(url: str, key: str, keys: Path) -> None:
    """Print the book's address and, on a terminal alone, the lecturer's link with its QR code."""
    print(f"The book: {url}")
    if not sys.stdout.isatty():
        print(f"The lecturer's link: {url}#lecturer=KEY, with a key of {keys}", flush=True)
        return
    link = f"{url}#lecturer={key}"
    print(f"The lecturer's link, for you alone, which lets this browser open rooms: {link}")
    code = qrcode.QRCode(border=2)
    code.add_data(link)
    code.print_ascii(invert=True)
    sys.stdout.flush()


def site_origin(site: str) -> str:
    """Return the origin of a site's address; "" without one."""
    parts = urlsplit(site)
    if site and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ValueError(f"--site must be an address as https://course.example.edu/rope/, got {site!r}")
    return f"{parts.scheme}://{parts.netloc}" if site else ""


def refuse(sentence: str) -> int:
    """Print why nothing is served; return the exit code."""
    print(sentence, file=sys.stderr)
    return 1


def main() -> int:
    """Serve until stopped; exit 1 with one sentence where that cannot be."""
    given, keys = options(), default_rooms_path().with_name(KEYS)
    try:
        store, known = RoomStore(), lecturer_keys(keys)
        app = hall_application(given.book, store, known, given.hosts.split(), site_origin(given.site))
        if given.certificate:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(given.certificate, given.key)
        listening = socket.create_server((given.address, given.port), backlog=BACKLOG)
    except StoreUnavailable as error:
        used = (
            f"another process serves these rooms ({default_rooms_path()})" if error.reason == "locked" else str(error)
        )
        return refuse(f"ROPE_LAB_ROOMS must be a file of this process alone, {used}: {error.__cause__}")
    except ssl.SSLError as error:
        return refuse(f"--certificate and --key must be PEM files that fit, got {error}")
    except FileNotFoundError as error:
        return refuse(f"--certificate and --key must be files, got {given.certificate} and {given.key}: {error}")
    except OSError as error:
        return refuse(f"--address and --port must be free here, got {given.address}:{given.port}: {error}")
    except ValueError as error:
        return refuse(str(error))
    everywhere = given.address in ("0.0.0.0", "::")
    host = (given.hosts.split() or [local_network_address() if everywhere else given.address])[0]
    url = f"{'https' if given.certificate else 'http'}://{host}:{listening.getsockname()[1]}/"
    if given.site:
        print(f"The rooms: {url}")
    announce(f"{given.site.rstrip('/')}/" if given.site else url, known[0], keys)
    serve(app, listening, given.certificate, given.key)
    return 0


if __name__ == "__main__":
    os.umask(0o077)
    sys.exit(main())
