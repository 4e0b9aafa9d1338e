"""One row for each figure: its arguments, and the sentence that its numbers make where no other test holds it."""
