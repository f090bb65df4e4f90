"""Claims about the run itself: phases, steps, faults, deaths, mutants."""
