"""Claims about what clients sent, read and waited for."""
