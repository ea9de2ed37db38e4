"""A memory of folders and groups that outlives the pull, as that of a source does."""

import json


class KeptMemory:
    def __init__(self):
        self.kept = {}

    def recall(self, place):
        return json.loads(self.kept.get(place, "{}"))

    def remember(self, place, what):
        self.kept[place] = json.dumps(what)

    def make_due(self, place):
        """Let what is withheld there be asked for again at once."""
        what = self.recall(place)
        for asked in what["withheld"]["missing"].values():
            asked[1] = 0
        self.remember(place, what)
