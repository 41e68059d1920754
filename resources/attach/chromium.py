"""Passes for Chromium where an agent launches a browser: what it is told goes to the browser of Backstep's window.

Started with Chromium's own options; BACKSTEP_CDP_URL holds the browser address
of the attached agent. A launch is one connection to that address: it is held for
as long as the agent has its browser, and the agent's browser ends with it.
Nothing but the standard library is imported.
"""

import http.client
import json
import os
import signal
import socket
import struct
import sys
import threading
import uuid
from collections.abc import Iterator
from urllib.parse import urlsplit

_IN, _OUT = 3, 4
"""Over these files Chromium is driven with ``--remote-debugging-pipe``; a message ends with a zero byte."""
_TEXT, _BINARY, _CLOSE, _PING, _PONG = 1, 2, 8, 9, 10
"""What a frame of a WebSocket is."""
_SHORT, _LONG = 126, 127
"""In place of a length: it follows, in two or in eight bytes."""
_PIECE = 1 << 16
_LARGEST_HEAD = 1 << 16
_LAST_SECONDS = 2.0


class Problem(Exception):
    """Why nothing can stand in here, in a sentence."""


class Socket:
    """A WebSocket to the browser address, as its client."""

    def __init__(self, host: str, port: int, path: str) -> None:
        self._socket = socket.create_connection((host, port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")
        self._sending = threading.Lock()
        head = (
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: QmFja3N0ZXAgc3RhbmRzIQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        self._socket.sendall(head.encode())
        status = self._file.readline()
        while self._file.readline().strip():
            pass
        if b" 101 " not in status:
            raise Problem(
                f"The browser of Backstep's window answered {status.decode(errors='replace').strip()}."
            )

    def send(self, data: bytes, kind: int = _TEXT) -> None:
        """Send a message."""
        size = len(data)
        if size < _SHORT:
            length = struct.pack("!B", 0x80 | size)
        elif size < 1 << 16:
            length = struct.pack("!BH", 0x80 | _SHORT, size)
        else:
            length = struct.pack("!BQ", 0x80 | _LONG, size)
        # Clients have to mask what they send; a mask of zeros leaves it as it is.
        with self._sending:
            self._socket.sendall(bytes([0x80 | kind]) + length + bytes(4) + data)

    def messages(self) -> Iterator[bytes]:
        """Yield what comes, until the other side goes."""
        kept = b""
        while len(head := self._file.read(2)) == 2:
            kind, size = head[0] & 0x0F, head[1] & 0x7F
            if size == _SHORT:
                (size,) = struct.unpack("!H", self._file.read(2))
            elif size == _LONG:
                (size,) = struct.unpack("!Q", self._file.read(8))
            data = self._file.read(size)
            if kind == _CLOSE or len(data) < size:
                return
            if kind == _PING:
                self.send(data, _PONG)
            elif kind != _PONG:
                kept += data
                if head[0] & 0x80:
                    yield kept
                    kept = b""


class Window:
    """The browser of the window, as one launch has it."""

    def __init__(self, address: str, *, empty: bool) -> None:
        """`empty` is a browser that is launched without a page."""
        parts = urlsplit(address)
        self.host, self.port = parts.hostname or "127.0.0.1", parts.port or 80
        self._address = parts.path
        self.path = f"{parts.path}/launched/{'empty' if empty else 'open'}/{uuid.uuid4().hex}"
        """Where this launch is served."""

    def connect(self) -> Socket:
        """Begin the launch."""
        return Socket(self.host, self.port, f"{self.path}/devtools/browser/launched")

    def version(self) -> str:
        """Return the version of the engine, as 140.0.7339.0."""
        asking = http.client.HTTPConnection(self.host, self.port)
        asking.request("GET", f"{self._address}/json/version")
        answer = asking.getresponse()
        if answer.status != http.client.OK:
            raise Problem(f"The browser of Backstep's window answered {answer.status} {answer.reason}.")
        return str(json.load(answer)["Browser"]).rpartition("/")[2]


def send_all(file: int, data: bytes) -> None:
    """Write all of `data`."""
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def relay_pipe(launch: Socket) -> None:
    """Pass on what the client writes into its pipe; once it closes that, the browser ends."""
    kept = bytearray()
    try:
        while piece := os.read(_IN, _PIECE):
            start = len(kept)
            kept += piece
            while (end := kept.find(0, start)) >= 0:
                launch.send(bytes(kept[:end]))
                del kept[: end + 1]
                start = 0
    finally:
        os._exit(0)  # Reading from the window ends in no other way.


def listen(port: int, folder: str, window: Window) -> socket.socket:
    """Listen at `port`, 0 for any, and tell so as Chromium does."""
    try:
        server = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise Problem(
            f"Port {port} cannot be listened at: {error.strerror}; launch with another one."
        ) from error
    port, path = server.getsockname()[1], f"{window.path}/devtools/browser/launched"
    if folder:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "DevToolsActivePort"), "w", encoding="utf-8") as file:
            file.write(f"{port}\n{path}")
    print(f"\nDevTools listening on ws://127.0.0.1:{port}{path}", file=sys.stderr, flush=True)
    return server


def accept(server: socket.socket, window: Window, relays: list[threading.Thread]) -> None:
    """Relay each connection to the window, by a thread that is added to `relays`."""
    while True:
        client, _ = server.accept()
        relay = threading.Thread(target=relay_connection, args=(client, window), daemon=True)
        relays.append(relay)
        relay.start()


def relay_connection(client: socket.socket, window: Window) -> None:
    """Relay one connection, its request below the path of this launch."""
    try:
        with client, socket.create_connection((window.host, window.port)) as there:
            for one in (client, there):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            request = b""
            while b"\r\n\r\n" not in request:
                piece = client.recv(_PIECE)
                if not piece or len(request) > _LARGEST_HEAD:
                    return
                request += piece
            request = addressed(request, client.getsockname()[1], window)
            there.sendall(rewritten(request, window.path))
            threading.Thread(target=copy, args=(client, there), daemon=True).start()
            copy(there, client)
    except OSError:
        return  # One of the two has gone.


def addressed(request: bytes, port: int, window: Window) -> bytes:
    """Return a request to this port as one to the window, which refuses those to other hosts and of other origins."""
    own = [f"{host}:{port}".encode() for host in ("127.0.0.1", "localhost", "[::1]")]
    there = f"{window.host}:{window.port}".encode()
    head, body = request.split(b"\r\n\r\n", 1)
    lines = head.split(b"\r\n")
    for number, line in enumerate(lines):
        name, _, value = line.partition(b":")
        scheme = b"http://" if name.lower() == b"origin" else b""
        if name.lower() in (b"host", b"origin") and value.strip().lower() in [scheme + one for one in own]:
            lines[number] = name + b": " + scheme + there
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def rewritten(request: bytes, prefix: str) -> bytes:
    """Return a request with its path below `prefix`; one that is for no WebSocket is its connection's last."""
    first, rest = request.split(b"\r\n", 1)
    method, path, version = first.split(b" ", 2)
    if not path.startswith(prefix.encode()):
        path = prefix.encode() + path
    head, body = rest.split(b"\r\n\r\n", 1)
    lines = head.split(b"\r\n")
    if not any(line.lower().startswith(b"upgrade:") for line in lines):
        lines = [line for line in lines if not line.lower().startswith(b"connection:")] + [
            b"Connection: close"
        ]
    return b"\r\n".join([b" ".join([method, path, version]), *lines]) + b"\r\n\r\n" + body


def copy(source: socket.socket, to: socket.socket) -> None:
    """Pass on what comes, until it ends."""
    try:
        while piece := source.recv(_PIECE):
            to.sendall(piece)
        to.shutdown(socket.SHUT_WR)
    except OSError:
        return


def value_of(options: list[str], name: str) -> str | None:
    """Return what an option is set to; of several the last counts, as with Chromium."""
    found = [one.partition("=")[2] for one in options if one.startswith(f"{name}=")]
    return found[-1] if found else None


def stand_in(address: str, options: list[str]) -> None:
    """Do what Chromium would with these options; returns once the browser has ended."""
    window = Window(address, empty="--no-startup-window" in options)
    if "--version" in options or "--product-version" in options:
        version = window.version()
        print(version if "--product-version" in options else f"Chromium {version}", flush=True)
        return
    piped, port = "--remote-debugging-pipe" in options, value_of(options, "--remote-debugging-port")
    if not piped and port is None:
        raise Problem(
            "Backstep stands in for Chromium here, for programs that drive it with --remote-debugging-pipe or "
            "--remote-debugging-port; for anything else give the path of another Chromium."
        )
    if port is not None and not port.isdecimal():
        raise Problem(f"--remote-debugging-port={port} is no port; give a number, 0 for any.")
    launch, relays = window.connect(), list[threading.Thread]()
    if port is not None:
        server = listen(int(port), value_of(options, "--user-data-dir") or "", window)
        threading.Thread(target=accept, args=(server, window, relays), daemon=True).start()
    if piped:
        threading.Thread(target=relay_pipe, args=(launch,), daemon=True).start()
    for message in launch.messages():
        if piped:
            send_all(_OUT, message + b"\0")
    for relay in relays:
        relay.join(_LAST_SECONDS)  # The window has closed it; what it said last is still under way.


def main(options: list[str]) -> int:
    """Return the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        stand_in(os.environ["BACKSTEP_CDP_URL"], options)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 0  # The client has gone.
    except OSError as error:
        print(f"The browser of Backstep's window cannot be reached: {error.strerror}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))  # Its threads still wait for more: they must not be waited for.
