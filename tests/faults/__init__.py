"""Injected faults: memory that runs out at each allocation, hooks and files that fail at each call.

`make faults` runs all of it; `tests/test_faults.py` a slice.
"""
