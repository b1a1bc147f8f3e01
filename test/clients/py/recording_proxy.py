"""Forwards requests to the gateway, streams the answers and keeps both."""

import http.client
import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

HOP_BY_HOP = {"connection", "transfer-encoding", "keep-alive", "content-length", "date", "server"}


@dataclass(frozen=True)
class Exchange:
    method: str
    path: str
    query: str
    # Names in lower case.
    headers: dict[str, str]
    request: Any
    status: int
    content_type: str
    body: bytes


def start_proxy(gateway_url: str, exchanges: list[Exchange]) -> str:
    """Returns its URL. Appends every exchange to the list. It ends with the program."""
    gateway = urlsplit(gateway_url)

    class Handler(BaseHTTPRequestHandler):
        def forward(self) -> None:
            request = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            # The checks read the answers, so they come without compression.
            sent = {name: value for name, value in headers.items() if name not in {"host", "accept-encoding"}}
            connection = http.client.HTTPConnection(gateway.hostname or "", gateway.port)
            connection.request(self.command, self.path, request, sent)
            answer = connection.getresponse()
            # Without a length: the answer ends with the connection.
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            self.end_headers()
            body = b""
            while piece := answer.read1():
                body += piece
                self.wfile.write(piece)
            connection.close()
            url = urlsplit(self.path)
            content_type = answer.headers.get("content-type", "")
            value = json.loads(request) if request else None
            exchanges.append(
                Exchange(self.command, url.path, url.query, headers, value, answer.status, content_type, body)
            )

        do_GET = do_POST = forward

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"
