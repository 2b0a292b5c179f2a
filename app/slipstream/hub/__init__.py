"""Models by name: on this computer and, later, on the Hub."""
