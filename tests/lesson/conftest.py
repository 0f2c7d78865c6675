"""Every lesson test: what the loop complains about, now or when it is collected, fails the test."""

from __future__ import annotations

from tests.media.peers import no_loop_errors

__all__ = ["no_loop_errors"]
