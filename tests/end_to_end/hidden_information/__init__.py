"""What is hidden stays hidden until the end: no byte that leaves the server tells of it.

Two ways of looking. A *scan* searches everything that a real server sends, answers, logs, stores
and publishes during a game for its secret, its seed and what else is nobody's business, in all
spellings. *Twins* are two rooms that differ only in what is hidden, through which the same commands
are sent: everybody must get the same bytes until a card is turned over that differs. Both are also
shown bugs that were made on purpose, because a search that never finds anything proves nothing.
"""
