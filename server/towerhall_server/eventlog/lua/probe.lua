#!lua
-- Does nothing. Its first line declares a script that writes and needs memory, so an engine that would
-- refuse a write refuses this too: a full one, a read-only one.

return 1
