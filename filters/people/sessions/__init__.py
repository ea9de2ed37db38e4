"""The browsers in which a person is signed in: where, which, when they were last seen."""
