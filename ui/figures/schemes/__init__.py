"""Figures of the page schemes: columns side by side, their margins, and where a check first fails."""
