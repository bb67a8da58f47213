-- Ends a claim to make the next room for a wish: with a room, which is then open for others, or
-- without one. Whoever was too slow has lost the claim, and its room stays unknown: so there is at
-- most one room for each claim, however long a node was paused.
--
-- KEYS  claim, open rooms (of one slot)
-- ARGV  1 the claim   2 room or ''   3 wall ms   4 ms to keep the list of open rooms
-- Returns 1, or 0 if the claim is not held any more

if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
if ARGV[2] ~= '' then
  redis.call('ZADD', KEYS[2], ARGV[3], ARGV[2])
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
end
return 1
