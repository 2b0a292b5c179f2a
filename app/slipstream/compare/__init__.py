"""Honest numbers: what each way of drafting brings on this computer."""
