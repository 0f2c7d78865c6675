"""What a test of hearing needs of its machine: `make system-deps` and the extras bring the local
voice, so that CI fails without it; other voices are a bonus and their absence a reason to skip."""

from __future__ import annotations

import os

import pytest

from tests.media.hearing.clips import espeak, joe_missing, recordings


def local_voice() -> None:
    if reason := joe_missing():
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)


def people() -> None:
    if not recordings():
        pytest.skip("needs the Debian package pocketsphinx-testdata")


def robots() -> None:
    if not espeak():
        pytest.skip("needs espeak-ng")
