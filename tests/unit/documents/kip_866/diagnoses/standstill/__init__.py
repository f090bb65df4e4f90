"""Facts about migrations that stand still."""
