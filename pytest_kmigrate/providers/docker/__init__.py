"""One container per node on the cluster's own bridge, every link through its own proxy, nothing left at the end."""
