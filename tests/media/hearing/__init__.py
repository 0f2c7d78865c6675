"""Labelled sound, made when it is needed: voices, noises, an acoustic way back, and trials."""
