"""Coherence: whether the streams of one run fit together, so that evidence cannot be changed in one place alone."""
