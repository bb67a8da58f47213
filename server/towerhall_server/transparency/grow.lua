-- Adds leaves to the public log, if it still ends where the caller saw it. Leaves, tiles, counts and
-- the new head are written together. Nothing is written before the last check.
--
-- KEYS  head, index, open, then each bundle or tile that becomes longer
-- ARGV  size and root as the caller saw them, new size, new root, number of leaves;
--       then kind and uid of each leaf; then, of each further key, its length and the added bytes
-- Returns {'OK'}, {'MOVED'} or {'DAMAGED', key}

local head, index, open = KEYS[1], KEYS[2], KEYS[3]
local size, root, new_size, new_root = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local leaves = 5 + 2 * tonumber(ARGV[5])

local found = redis.call('HMGET', head, 'size', 'root')
if (found[1] or '0') ~= size or (found[2] or '') ~= root then return {'MOVED'} end
for i = 4, #KEYS do
  if redis.call('STRLEN', KEYS[i]) ~= tonumber(ARGV[leaves + 2 * (i - 4) + 1]) then
    return {'DAMAGED', KEYS[i]}
  end
end

for i = 4, #KEYS do redis.call('APPEND', KEYS[i], ARGV[leaves + 2 * (i - 4) + 2]) end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local number = tonumber(size)
for i = 6, leaves, 2 do
  local kind, uid = ARGV[i], ARGV[i + 1]
  redis.call('HSET', index, kind .. ' ' .. uid, string.format('%.0f', number))
  redis.call('HINCRBY', head, kind, 1)
  if kind == 'opened' then
    redis.call('ZADD', open, string.format('%.0f', now), uid)
  else
    redis.call('ZREM', open, uid)
  end
  number = number + 1
end
redis.call('HSET', head, 'size', new_size, 'root', new_root)
return {'OK'}
