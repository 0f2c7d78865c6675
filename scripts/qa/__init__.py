"""What `scripts/qa_voice_wav.py` is made of: a learner's end without a browser."""
