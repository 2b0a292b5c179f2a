"""Types of the fixtures that make programs which behave badly."""

from collections.abc import Callable
from pathlib import Path

from slipstream.engine.spec import EngineSpec

BadEngine = Callable[[str], Path]
"""Writes a Python program that poses as an engine."""
Posing = Callable[[str], EngineSpec]
"""Makes a launchable engine out of one."""
