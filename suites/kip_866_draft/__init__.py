"""The draft of KIP-866: what it alone asks for; the rest is judged in the runs of the final document's suite."""
