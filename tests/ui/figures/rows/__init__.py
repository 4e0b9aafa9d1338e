"""One row for each figure: its arguments, its axes and the sentence that its numbers make."""
