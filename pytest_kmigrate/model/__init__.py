"""Values and protocols: what the other rooms talk about. No I/O, no pytest, no Spark."""
