"""Members of groups under test, on real clusters."""
