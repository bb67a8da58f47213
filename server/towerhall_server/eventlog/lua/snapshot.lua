-- Keeps a snapshot of a room, if the log holds the exact entry that it was made after. Without this
-- check a late write would bring back a part of a removed room.
--
-- KEYS  log, snapshots (of one slot)
-- ARGV  1 seq   2 chain   3 data   4 seq of a snapshot to drop, or ''
-- Returns 1 if it is kept

local log, snapshots = KEYS[1], KEYS[2]
local seq, chain, data, outdated = unpack(ARGV)

local there = redis.call('XRANGE', log, seq .. '-0', seq .. '-0')[1]
if not there then return 0 end
local found = {}
for i = 1, #there[2], 2 do found[there[2][i]] = there[2][i + 1] end
if found.c ~= chain then return 0 end

redis.call('HSET', snapshots, seq, data)
if outdated ~= '' then redis.call('HDEL', snapshots, outdated) end
local ttl = redis.call('PTTL', log)
if ttl > 0 then redis.call('PEXPIRE', snapshots, ttl) end
return 1
