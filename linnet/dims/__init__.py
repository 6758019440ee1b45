"""Symbolic dimensions: integers over generics, and what provably holds of them.

Nothing here knows of the language.
"""
