-- Notes that a person has come to a room of which they were told by push.
--
-- KEYS  told (by room)
-- ARGV  1 room   2 the field of the note

if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then redis.call('HSET', KEYS[1], ARGV[2], 1) end
return 1
