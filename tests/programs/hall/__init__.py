"""One server in front of a store with very many rooms, and how long its loop stands still.

Lobby, beats and wakes are those of the server; the rooms are synthetic. The command
`python -m tests.programs.hall` runs it with 100,000 rooms.
"""
