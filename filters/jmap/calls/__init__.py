"""What the calls of JMAP answer, by the kind of object: ``methods`` names them.

Which tests of github.com/jmapio/jmap-test-suite pass, and why the others do not on purpose, is
listed in ``tests/fixtures/jmap/suite.txt``.
"""
