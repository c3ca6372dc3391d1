"""The engines that rivals.py compares, one file each."""
