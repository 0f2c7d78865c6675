"""Composition root: HTTP, identity, roles, store, signalling, and the lesson where media and agent meet."""
