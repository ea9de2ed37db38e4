"""A memory of folders and groups that outlives the pull, as that of a source does."""

import json


class KeptMemory:
    durable = True

    def __init__(self):
        self.kept = {}

    def load(self, folder):
        return json.loads(self.kept.get(folder, "{}"))

    def save(self, folder, state):
        self.kept[folder] = json.dumps(state)

    def make_due(self, folder):
        """Let what is withheld there be asked for again at once."""
        state = self.load(folder)
        for asked in state["withheld"]["missing"].values():
            asked[1] = 0
        self.save(folder, state)
