-- Keeps id and name of a person under a handle, if there is nobody yet. It expires unless the
-- handle is confirmed: the key that leads to the handle is in another slot.
--
-- KEYS  who
-- ARGV  1 id   2 name   3 wall ms   4 ms until an unconfirmed person is gone

if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], 'id', ARGV[1], 'name', ARGV[2], 'named', ARGV[3], 'since', ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
return 1
