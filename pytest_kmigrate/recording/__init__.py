"""Recording: a run folder, written as the run happens and read back later."""
