"""Real objects of well-known packages, stored every way and compared with what pickle keeps: `make zoo`."""
