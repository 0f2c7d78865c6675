"""Teaching: prompts, grounding, agenda, the move agent. Knows no sockets, audio, HTTP or store."""
