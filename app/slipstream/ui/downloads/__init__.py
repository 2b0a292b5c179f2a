"""Downloads in the window: one object that owns the queue, a tray, a badge and the full list."""
