"""What may pass for an e-mail address. Pure; nothing is sent there and nobody is verified by it."""

from __future__ import annotations

import re

MAX_CHARS = 254  # RFC 5321 4.5.3.1.3
_ADDRESS = re.compile(r"[^\s@<>\"',;]{1,64}@[^\s@<>\"',;]{1,189}\Z")


def email_address(value: str) -> str:
    """`value` without surrounding space, or empty. Raises ValueError: among others for characters
    that nobody sees, which would let one address look like another."""
    value = value.strip()
    if value and (not value.isprintable() or not _ADDRESS.match(value)):
        raise ValueError("must be an e-mail address such as ada@example.org")
    return value
