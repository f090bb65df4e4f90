"""Claims about how brokers register with the controllers, and in which mode."""
