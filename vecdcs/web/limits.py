"""What surrounds every request: a limit on its size, and headers that let a page load nothing from elsewhere."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 64 * 1024
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


class Limited:
    """An application whose requests are small and whose responses carry the headers."""

    def __init__(self, app: ASGIApp, most: int = MOST_BYTES) -> None:
        self.app, self.most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = await self._body(receive)
        if body is None:
            refused = JSONResponse({"detail": f"a request has at most {self.most} bytes"}, 413)
            await refused(scope, receive, _with_headers(send))
        else:
            await self.app(scope, _replay(body, receive), _with_headers(send))

    async def _body(self, receive: Receive) -> bytes | None:
        """The whole body, or none if it is too long."""
        body, more = b"", True
        while more and len(body) <= self.most:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        return body if len(body) <= self.most else None


def _replay(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _with_headers(send: Send) -> Send:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return wrapped
