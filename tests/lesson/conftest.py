"""Every lesson test: what the loop complains about, now or when it is collected, fails the test."""

from __future__ import annotations

import tests.rig  # noqa: F401  (the application first: its packages import each other in this order)
from tests.media.peers import no_loop_errors

__all__ = ["no_loop_errors"]
