-- Makes the log of a sandbox room lose its end, as a failover may, and the snapshots of the lost
-- entries. The first entry stays, for without it the room is gone. A stream never takes an id again
-- that it has had, so the rest of the log is written anew.
--
-- KEYS  log, snapshots (of one slot)
-- ARGV  1 how many entries to lose
-- Returns how many were lost

local log, snapshots = unpack(KEYS)
local entries = redis.call('XRANGE', log, '-', '+')
local left = math.max(#entries - tonumber(ARGV[1]), 1)
if left >= #entries then return 0 end

local ttl = redis.call('PTTL', log)
redis.call('DEL', log)
for i = 1, left do redis.call('XADD', log, entries[i][1], unpack(entries[i][2])) end
if ttl > 0 then redis.call('PEXPIRE', log, ttl) end
for _, seq in ipairs(redis.call('HKEYS', snapshots)) do
  if tonumber(seq) > left then redis.call('HDEL', snapshots, seq) end
end
return #entries - left
