"""Typed program to tensor IR."""
