-- Returns slips by their numbers, in one call: a page of a history needs many.
--
-- KEYS  journal
-- ARGV  numbers of slips
-- Returns the entries of those that are there

local found = {}
for _, number in ipairs(ARGV) do
  local entry = redis.call('XRANGE', KEYS[1], number .. '-0', number .. '-0')[1]
  if entry then found[#found + 1] = entry end
end
return found
