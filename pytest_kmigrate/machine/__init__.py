"""What this machine lacks, and what a topology would take of it."""
