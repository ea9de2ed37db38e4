"""Signing in, within limits, wherever a password is asked.

    password ─> LimitedBackend ─ reserve ─> over a limit: nothing is hashed ─> 429, Retry-After
                                    └─> hash ─> wrong: the try stays counted
                                             └> right: given back; the browser is known from now on

Names that nobody has are counted, hashed and refused as all others are.
"""
