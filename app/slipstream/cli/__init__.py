"""The command line: one file per verb, thin; what they do is in the packages below."""
