"""Strict reading of decisions that language models write as text."""
