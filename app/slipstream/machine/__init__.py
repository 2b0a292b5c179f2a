"""What this computer has: memory, processor and graphics cards."""
