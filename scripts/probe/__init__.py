"""What `scripts/live_probe.py` is made of: one module per group of checks on a Live model."""
