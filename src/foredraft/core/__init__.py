"""The mathematics and the shared vocabulary; needs NumPy only and imports no other room."""
