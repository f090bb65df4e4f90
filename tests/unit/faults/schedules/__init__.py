"""Facts about schedules."""
