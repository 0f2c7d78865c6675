"""Teaching: prompts, grounding, agenda, the move agent. Knows no sockets, no audio, no HTTP, no store."""
