import pickle

from .results import *


def compare(a, b):
    return Fidelity(SAME if pickle.dumps(a, 5) == pickle.dumps(b, 5) else CHANGED, [])
