"""The version of this installation, from its package metadata."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("pidjin")
except PackageNotFoundError:  # run from a source tree that was never installed
    VERSION = "0.0.0+source"
