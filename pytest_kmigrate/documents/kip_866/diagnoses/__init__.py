"""One known bug of Kafka a file: the evidence by which it is recognized."""
