"""Hosts a service with OpenZiti's C SDK (the PyPI wheel) and returns what each dialer sends:

    host.py IDENTITY_FILE SERVICE

Each connection begins with the number of bytes that follow (8 bytes, the most significant first), since that version of
the SDK never reports the end of a stream. The host answers with all of them. It prints `hosting` when it listens.
"""

import socket
import sys
import threading

from openziti import zitilib

PIECE = 1 << 20


def serve(fd: int) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fd) as stream:
        head = b""
        while len(head) < 8:
            piece = stream.recv(8 - len(head))
            if not piece:
                return
            head += piece
        left = int.from_bytes(head, "big")
        while left > 0:
            piece = stream.recv(min(PIECE, left))
            if not piece:
                return
            stream.sendall(piece)
            left -= len(piece)
        # The dialer closes when it has everything.
        stream.recv(1)


def main() -> int:
    identity_file, service = sys.argv[1:3]
    context = zitilib.load(identity_file)
    listener = zitilib.ziti_socket(socket.SOCK_STREAM)
    zitilib.bind(listener, context, service)
    zitilib.listen(listener, 32)
    print("hosting", flush=True)
    while True:
        fd, _ = zitilib.accept(listener)
        threading.Thread(target=serve, args=(fd,), daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())
