"""What an operator does: moves, and the driver that walks the steps of a procedure."""
