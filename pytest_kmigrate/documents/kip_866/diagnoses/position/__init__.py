"""Known bugs about the position in ``/migration``: who writes it when, and what its next reader makes of it."""
