"""Web push: a person who is away is told of their turn, of an invitation and of the end of a game.

`notes`, `encryption` and `vapid` are pure. `watch` finds who may have to be told, `telling` decides
and sends. No raw store call may live here: `eventlog.pushes` makes them.
"""

__all__ = ["service", "subscriptions", "telling"]
