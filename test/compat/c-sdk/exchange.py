"""Dials a service with OpenZiti's C SDK (the PyPI wheel), and checks that the far end returns what it gets:

    exchange.py IDENTITY_FILE SERVICE BYTES

The connection begins with the number of bytes that follow (8 bytes, the most significant first), as `host.py` reads it.
It prints `whole` if all of them came back unchanged.
"""

import hashlib
import os
import socket
import sys
import threading

from openziti import zitilib

TIMEOUT_S = 60
PIECE = 1 << 16


def send(stream: socket.socket, count: int, digest: "hashlib._Hash") -> None:
    stream.sendall(count.to_bytes(8, "big"))
    left = count
    while left > 0:
        piece = os.urandom(min(PIECE, left))
        digest.update(piece)
        stream.sendall(piece)
        left -= len(piece)


def main() -> int:
    identity_file, service, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    context = zitilib.load(identity_file)
    fd = zitilib.ziti_socket(socket.SOCK_STREAM)
    # The wheel wants a terminator, if only an empty one.
    zitilib.connect(fd, context, service, "")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fd) as stream:
        stream.settimeout(TIMEOUT_S)
        sent, received = hashlib.sha256(), hashlib.sha256()
        sender = threading.Thread(target=send, args=(stream, count, sent), daemon=True)
        sender.start()
        left = count
        while left > 0:
            piece = stream.recv(min(PIECE, left))
            if not piece:
                raise ConnectionError(f"the stream ended with {left} of {count} bytes missing")
            received.update(piece)
            left -= len(piece)
        sender.join()
        print("whole" if sent.digest() == received.digest() else "changed", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
