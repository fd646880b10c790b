"""Injected faults: memory that runs out at each allocation, hooks and files that fail at each call.

`make faults` runs all of it; `tests/hostile/test_faults.py` a slice.
"""
