"""Schemes side by side: the margin of each check, pair by pair, of functions, frequencies, configs and shipped schemes.

margins     the checks' formulas, arrays of frequencies in, bits out; numpy alone, for the pytest file carries them
source      what the text of a function says: its name, lines that a fault may come from
driver      the text that runs beside somebody's own function, apart, and calls it as it wants to be called
columns     what may be compared -> a Column: its frequencies at a geometry, and again at others
rows        the setting, a row for each check of a column, and the column with its rows
evaluate    a column at one setting -> its rows
arguments   a function at another model's geometry, beside itself
scheme_variants  published schemes at a geometry, as published and with each known mistake
nearest     a column -> the published scheme that it is nearest to, or is held to
compare     columns and settings -> columns with rows
samples     a function's answers to all calls that a page needs, made in one go apart -> a Column
pasted      a text or an address of one -> a Column
examples    a scheme to begin with, six with a fault each
curves      what the page draws of columns: scores by distance, angles by position, shares of the circle
measured    what schemes that hold a check read on the lab's small model, beside those that do not
papers      numbers that papers print on their schemes, beside what the formulas here give
cells       what a table says of a check: what was measured, its limit, its pair
sentences   what a column is judged at, what it does not hold and why, the nearest scheme
export      the pytest file and the HTML page
checks.toml each check: formula, threshold, source; its words are in rope_core/text
"""
