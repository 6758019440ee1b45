"""Text from a model, whatever it runs on: prompts, sampling, and when a text ends."""
