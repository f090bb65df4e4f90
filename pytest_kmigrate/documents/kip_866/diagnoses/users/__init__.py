"""Diagnoses of what belongs to a user or a topic: what ZooKeeper keeps of it, loses, or gets back."""
