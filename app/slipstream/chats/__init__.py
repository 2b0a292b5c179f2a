"""Conversations: what was said, by which model, and who chose every word."""
