-- Keeps a choice of a person about the profile. An erased person has none.
--
-- KEYS  who
-- ARGV  field, value, field, value, ...; an empty value removes the field

if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
for i = 1, #ARGV, 2 do
  if ARGV[i + 1] == '' then redis.call('HDEL', KEYS[1], ARGV[i])
  else redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
end
return 1
