"""The families, by what they attack. Each module here is imported; a new one needs no list."""
