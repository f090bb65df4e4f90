"""Benchmarks: plain programs, run by ``make bench``; nothing here is collected as a test."""
