"""Sound, peers, turns and Live sessions. Knows no users, no HTTP, no prompts, no store."""
