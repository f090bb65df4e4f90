"""What the draft of KIP-866 claims where the final document says something else."""
