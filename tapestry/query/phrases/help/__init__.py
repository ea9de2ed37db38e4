"""Help for people who write phrases: completion, vocabulary, the phrasebook, lists of words."""
