"""How a message is shown: its text, its HTML, its attachments.  Pure functions of what came.

body ─ flowed ─> lines ─ blocks ─> blocks ─ text ─> HTML
original ─ sections ─> attachments, and html ─ balanced ─ nh3 ─> the document of a frame
"""
