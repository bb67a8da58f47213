-- Ends a claim to create the next room of a wish: with a room, which is then listed as open, or
-- without one. A node that was too slow has lost the claim, and its room is not listed. So each claim
-- lists at most one room, even if a node was paused.
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
