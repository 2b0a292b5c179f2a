"""GGUF files: their headers, the grammar of their names, sets of shards."""
