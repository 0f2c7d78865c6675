"""Who somebody is. What they may do is `server/roles.py`, read anew from the store each time."""
