"""Pictures that move under the hand: scenes described in Python, and a player in the browser without formulas."""
