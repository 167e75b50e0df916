"""A real proxy in a thread, and servers behind it, one of them with TLS and a certificate of its own authority."""

import shutil
import socket
import socketserver
import ssl
import subprocess
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

HOST = "model.test"  # only the proxy can look it up
ANSWER = b'{"choices": [{"message": {"content": "Paris"}, "finish_reason": "stop"}], "response": "Paris"}'


@dataclass
class Certificates:
    """A certificate authority of our own and what it vouches for: `model.test` and this machine."""

    folder: Path

    @property
    def authority(self) -> str:
        """The file to trust."""
        return str(self.folder / "ca.pem")

    @classmethod
    def make(cls, folder: Path) -> Self | None:
        """Make them with `openssl`; None where there is none."""
        if shutil.which("openssl") is None:
            return None
        key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
        usage = "-addext keyUsage=critical,keyCertSign"
        # From Python 3.13 on, certificates have to say what they are for and who vouches for them.
        names = f"subjectAltName=DNS:{HOST},DNS:localhost,IP:127.0.0.1"
        (folder / "names").write_text(f"{names}\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n")
        for line in (
            f"req -x509 {key} -keyout ca.key -out ca.pem -days 9 -subj /CN=authority {usage}",
            f"req {key} -keyout server.key -out server.csr -subj /CN={HOST}",
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 9 -extfile names -out server.pem",
        ):
            subprocess.run(["openssl", *line.split()], cwd=folder, check=True, capture_output=True)  # noqa: S607
        return cls(folder)

    def context(self) -> ssl.SSLContext:
        """Return what a server needs."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "server.pem", self.folder / "server.key")
        return context


@dataclass
class Listener:
    """Reads the head of each request, keeps it in `heads`, and answers as a model and as an agent would."""

    tls: ssl.SSLContext | None = None
    heads: list[str] = field(default_factory=list)
    port: int = 0

    def __enter__(self) -> Self:
        handle = self._handle

        class Handler(socketserver.BaseRequestHandler):
            """Hands every connection on."""

            def handle(self) -> None:
                """Answer one request."""
                handle(self.request)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()  # waits for every connection

    def _handle(self, connection: socket.socket) -> None:
        connection.settimeout(5.0)
        with suppress(OSError), ExitStack() as stack:
            # A client that does not like the certificate hangs up here.
            peer = connection if self.tls is None else self.tls.wrap_socket(connection, server_side=True)
            stack.enter_context(peer)
            data = b""
            while b"\r\n\r\n" not in data and (more := peer.recv(65536)):
                data += more
            if data:
                self.heads.append(data.partition(b"\r\n\r\n")[0].decode())
                self.serve(peer, data)

    def serve(self, peer: socket.socket, data: bytes) -> None:
        """Answer what began so."""
        # The body is read, or the reply would be cut off by a reset.
        head, _, body = data.partition(b"\r\n\r\n")
        length = next((line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), b":0")
        while len(body) < int(length.partition(b":")[2]) and (more := peer.recv(65536)):
            body += more
        self.answer(peer, 200, ANSWER)

    def answer(self, peer: socket.socket, status: int, body: bytes) -> None:
        """Send a whole reply."""
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        peer.sendall(head.encode() + body)


@dataclass
class ProxyServer(Listener):
    """A proxy that leads everything to `target`, whatever the name; `status` refuses, `secret` is the credentials."""

    target: int = 0
    status: int = 200
    echo: str = ""
    secret: str | None = None
    lag_s: float = 0.0
    """How long it takes to end a connection that has ended on the other side."""

    @property
    def lines(self) -> list[str]:
        """The first lines of what it was asked."""
        return [head.partition("\r\n")[0] for head in self.heads]

    def serve(self, peer: socket.socket, data: bytes) -> None:
        """Refuse, make a tunnel, or pass a plain request on."""
        allowed = self.secret is None or f"proxy-authorization: basic {self.secret}" in self.heads[-1].replace(
            "Proxy-Authorization: Basic", "proxy-authorization: basic"
        )
        if not allowed or self.status != 200:
            return self.answer(peer, self.status if allowed else 407, self.echo.encode())
        with socket.create_connection(("127.0.0.1", self.target), 5.0) as behind:
            if data.startswith(b"CONNECT "):
                peer.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                behind.sendall(data)
            back = threading.Thread(target=_pump, args=(behind, peer, self.lag_s))
            back.start()
            _pump(peer, behind)
            back.join()
        return None


def _pump(source: socket.socket, target: socket.socket, lag_s: float = 0.0) -> None:
    """Copy until one side has enough."""
    with suppress(OSError, ValueError):
        while data := source.recv(65536):
            target.sendall(data)
    time.sleep(lag_s)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
