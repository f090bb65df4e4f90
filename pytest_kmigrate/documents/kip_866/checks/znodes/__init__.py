"""Claims about the znodes of the controllers."""
