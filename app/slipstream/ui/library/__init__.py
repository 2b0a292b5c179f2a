"""The models on this computer: what there is, and being rid of it."""
