"""Rules that hold for every test: marks name real requirements, leaked task errors fail the run."""
