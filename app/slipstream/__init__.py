"""Slipstream: run GGUF language models as fast as this computer allows."""

__version__ = "0.1.0"
