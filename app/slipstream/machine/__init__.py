"""What this computer has: memory and processor."""
