"""What holds on one engine holds on several. `tests/rarely.py` names those that always run."""

# ruff: noqa: F403 - a test that is added there is a test here
from tests.eventlog.test_append import *
from tests.eventlog.test_belongings import *
from tests.eventlog.test_buckets import *
from tests.eventlog.test_clock import *
from tests.eventlog.test_moves import *
from tests.eventlog.test_news import *
from tests.eventlog.test_read import *
from tests.eventlog.test_stamps import *

# A proxy leads to one engine.
del test_shards_that_did_not_answer_are_missing_in_a_beat  # noqa: F821
# Primaries publish each by itself: only news of one shard keep their order.
del test_what_the_lobby_shows_is_published_when_it_changes_and_only_then  # noqa: F821
