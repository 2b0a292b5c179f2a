"""Find engines, start and watch one, talk to it, attribute its tokens, name its failures."""
