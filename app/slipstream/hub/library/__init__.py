"""The models on this computer: where they lie, what belongs to them, and how to be rid of them.

``scan`` reads what the stores (``stores``) hold; ``removal`` and ``duplicates`` work on its result.
"""
