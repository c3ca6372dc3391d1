"""The parts of soak.py: what is asked and known, what clients do, and what is watched."""
