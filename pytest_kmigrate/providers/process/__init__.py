"""One supervised JVM per node, every link through its own proxy, everything gone when the run is."""
