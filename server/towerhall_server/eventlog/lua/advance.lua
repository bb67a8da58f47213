#!lua flags=allow-oom
-- Moves the service clock of a shard forward to a time that a node has seen. A store that became an
-- older copy of itself has an older clock, by which turns would last too long.
-- A full store runs it too: it only overwrites.
--
-- KEYS  clock
-- ARGV  1 served ms

if tonumber(redis.call('HGET', KEYS[1], 'served') or 0) < tonumber(ARGV[1]) then
  redis.call('HSET', KEYS[1], 'served', ARGV[1])
end
return 1
