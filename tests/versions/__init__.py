"""Which Pythons holdall is tested on, where each is found or had from, and what the tests say on it."""
