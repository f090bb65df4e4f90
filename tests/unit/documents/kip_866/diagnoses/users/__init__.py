"""Facts about what belongs to users and topics, and comes and goes with them."""
