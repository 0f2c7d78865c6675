"""Composition root: HTTP, identity, roles, store, signalling, and the lesson where both meet."""
