"""Claims about what is left after a way back."""
