"""Claims about the metrics of a migration."""
