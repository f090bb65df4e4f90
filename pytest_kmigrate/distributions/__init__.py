"""From a version or a path to verified jars on this machine: Kafka, its agents, Java, Toxiproxy, the cache."""
