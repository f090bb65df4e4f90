"""From a run folder to verdicts; needs no cluster."""
