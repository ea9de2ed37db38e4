"""What people of the sample write about: one topic, one file."""

from filters.sample.topics.baseball import BASEBALL
from filters.sample.topics.databases import DATABASES
from filters.sample.topics.hardware import HARDWARE
from filters.sample.topics.household import HOUSEHOLD
from filters.sample.topics.topic import Topic

__all__ = ["TOPICS", "Topic"]

TOPICS: tuple[Topic, ...] = (DATABASES, HARDWARE, BASEBALL, HOUSEHOLD)
