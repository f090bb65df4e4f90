"""A whole document of a few lines: the upgrade of brokers, one after the other."""
