"""Enrolls with OpenZiti's C SDK (the PyPI wheel): enroll.py TOKEN_FILE IDENTITY_FILE

Prints the version of the SDK on success. Exit status 1 and the SDK's reason otherwise.
"""

import sys

import openziti
from openziti import zitilib


def main() -> int:
    token_file, identity_file = sys.argv[1:3]
    try:
        identity = openziti.enroll(token_file)
    except Exception as error:  # the wheel raises plain exceptions
        print(f"enrollment failed: {error}", file=sys.stderr)
        return 1
    with open(identity_file, "w", encoding="utf-8") as out:
        out.write(identity)
    print(f"enrolled with C SDK {zitilib.version()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
