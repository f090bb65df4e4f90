"""Claims about the steps of the documented procedure, and what clients see of them."""
