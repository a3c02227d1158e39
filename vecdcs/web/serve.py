"""Running the page on this machine."""

from __future__ import annotations

import socket
from pathlib import Path

import typer
import uvicorn

from vecdcs.errors import InputError
from vecdcs.model.ask import Asker
from vecdcs.web.app import make_app

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def run(asker: Asker, corpus: Path | None, host: str, port: int) -> None:
    """Serve until interrupted. On the loopback address only its own names are answered to, lest another site's do."""
    hosts = [*LOOPBACK, "[::1]"] if host in LOOPBACK else None
    app = make_app(asker, corpus, hosts)
    listening = listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    typer.echo(f"vecdcs: http://{shown}:{listening.getsockname()[1]}  (stop with Ctrl-C)")
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_keep_alive=10, limit_concurrency=500)
    uvicorn.Server(config).run(sockets=[listening])


def listen(host: str, port: int) -> socket.socket:
    """A socket that waits for callers; port 0 is any free one."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.socket(family)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(512)
        return listening
    except OSError as error:
        raise InputError(f"cannot listen at {host}:{port}: {error.strerror or error}") from error
