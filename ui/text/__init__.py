"""The words: labels and prose in two languages, each formula once."""
