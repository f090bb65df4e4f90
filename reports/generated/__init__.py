"""Generated mutants of Kafka: drawn by PIT, planted by an agent, tested where executed code says, and scored."""
