"""What the calls of JMAP answer, by the kind of object: ``methods`` names them.

Of the 309 tests of github.com/jmapio/jmap-test-suite, 261 pass; its mailboxes and messages are made
as filters and their matches, for no call makes these.  The others, by what is not done on purpose:

| tests | of | why |
| --- | --- | --- |
| 18 | mailboxes made, renamed, moved, deleted, nested | each is a filter, or a shelf: forbidden |
| 10 | other mail than drafts put, imported, moved | filters alone fill their mailboxes: forbidden |
| 4 | names, Reply-To and HTML signatures of identities | the site has none of these |
| 1 | a push after a draft is made | pushed is what filters find |
| 5 | copies between accounts | a person has one account |
| 10 | VacationResponse | not offered |

This list only shrinks.
"""
