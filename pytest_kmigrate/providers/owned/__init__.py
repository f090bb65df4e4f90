"""What every provider shares that starts each node itself: nodes, disks, links, logins, evidence."""
