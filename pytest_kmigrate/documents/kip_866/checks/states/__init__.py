"""Claims about the states of a migration."""
