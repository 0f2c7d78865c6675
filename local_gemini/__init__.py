"""The Gemini API on loopback: local speech and a small tutor behind the wire of the real SDK."""
