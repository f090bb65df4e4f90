"""Checkers: pure functions from a History to a Verdict, and the kernels they share with the Spark jobs."""
