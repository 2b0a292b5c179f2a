"""The Compare page: what each way of drafting brings on this computer."""
