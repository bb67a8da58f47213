-- Appends a move: nothing but the log changes. If the log does not end with the entry that the
-- caller names, nothing is written, and `append.lua` answers the same request.
--
-- KEYS  log
-- ARGV  of the entry before: id in the stream, chain; of the new entry: id in the stream, commit id,
--       chain, blob, wall ms, served ms; then, if other nodes are told: PUBLISH or SPUBLISH; channel;
--       names of node and room
-- Returns 1, or 0 if nothing was written

local top = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
-- The chain is the second field of an entry. It covers the stamps, so no fork passes.
if not top or top[1] ~= ARGV[1] or top[2][3] ~= 'c' or top[2][4] ~= ARGV[2] then return 0 end
local _, _, id, commit_id, chain, blob, wall, served, publish, channel, names = unpack(ARGV)
redis.call('XADD', KEYS[1], id, 'i', commit_id, 'c', chain, 'b', blob, 't', wall, 'u', served)
if publish then
  local seq = tonumber(string.match(id, '^%d+'))
  redis.call(publish, channel, names
    .. cmsgpack.pack({seq, commit_id, chain, blob, tonumber(wall), tonumber(served)}))
end
return 1
