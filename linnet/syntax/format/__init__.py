"""The one style of Linnet: trees of tokens in, laid out text out. `source.py` is where to begin."""
