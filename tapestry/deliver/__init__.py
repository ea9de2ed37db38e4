"""Matches to people.

batch        what one delivery carries
ranking      which matches come first, and which are shown
wording      subjects, headings, counts and dates; one_line makes text of strangers safe
timing       when a match is shown and sent
ways         one file for each kind of destination, on the shelves mail, imap and http
"""
