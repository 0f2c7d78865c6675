"""Two-way contract between media and any Live service."""
