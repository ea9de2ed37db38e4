"""Previews and backtests: what a filter would have matched or delivered."""
