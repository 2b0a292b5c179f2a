"""The window. The only package that imports Qt; it lays out and paints, the core decides."""
