"""What the checks of KIP-125 look at: lives of members, spans of ownership, changes of the mode."""
