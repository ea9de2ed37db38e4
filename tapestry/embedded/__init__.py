"""The embedded engine: statements over few rows are answered on SQLite, in this process.

local_rows ─┐
functions  ─┼─> engine ─ few rows ─> SQLite
dialect    ─┘          └ many, or unsure ─> Spark
"""
