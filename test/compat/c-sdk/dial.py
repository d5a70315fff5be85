"""Dials a service with OpenZiti's C SDK (the PyPI wheel) and prints the body of one HTTP answer:

    dial.py IDENTITY_FILE SERVICE [PATH]
    dial.py IDENTITY_FILE ADDRESS:PORT [PATH]

An address is one that a service has by its config intercept.v1.

That version of the SDK never reports the end of a stream: the answer is read by its Content-Length.
"""

import socket
import sys

from openziti import zitilib

TIMEOUT_S = 20


def read_answer(stream: socket.socket) -> tuple[int, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = stream.recv(65536)
        if not chunk:
            raise ConnectionError(f"the stream ended inside the head: {data!r}")
        data += chunk
    head, body = data.split(b"\r\n\r\n", 1)
    lines = head.decode("latin-1").split("\r\n")
    status = int(lines[0].split(" ")[1])
    fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    length = int(fields["content-length"])
    while len(body) < length:
        chunk = stream.recv(65536)
        if not chunk:
            raise ConnectionError(f"the stream ended after {len(body)} of {length} bytes")
        body += chunk
    return status, body[:length]


def main() -> int:
    identity_file, service = sys.argv[1:3]
    path = sys.argv[3] if len(sys.argv) > 3 else "/"
    try:
        context = zitilib.load(identity_file)
        fd = zitilib.ziti_socket(socket.SOCK_STREAM)
        address, _, port = service.partition(":")
        if port:
            zitilib.connect_addr(fd, (address, int(port)))
        else:
            # The wheel wants a terminator, if only an empty one.
            zitilib.connect(fd, context, service, "")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fd) as stream:
            stream.settimeout(TIMEOUT_S)
            stream.sendall(f"GET {path} HTTP/1.1\r\nHost: {service}\r\nConnection: close\r\n\r\n".encode())
            status, body = read_answer(stream)
    except Exception as error:  # the wheel raises plain exceptions
        print(f"dial failed: {error}", file=sys.stderr)
        return 1
    sys.stdout.buffer.write(body)
    return 0 if status == 200 else 1


if __name__ == "__main__":
    sys.exit(main())
