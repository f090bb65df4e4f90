"""The plan of a profile's suite: what a run of each test has to show, and whether a run shows it."""
