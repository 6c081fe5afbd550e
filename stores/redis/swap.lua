-- Writes a record if its version is still the expected one, and publishes it.
-- KEYS: the record; if none is expected also the floor and the set of names of its bucket
-- ARGV: expected version (empty: none), new version, record, publishing command, channel, '1' to check that the user may
--       publish; if none is expected also token, '1' if vacant, and the election
-- Returns: 1, or nil if the version was another one
local key, expected, new, publish, channel = KEYS[1], ARGV[1], ARGV[2], ARGV[4], ARGV[5]

local version = redis.call('HGET', key, 'version') or ''
if version ~= expected then
	-- Something on the way may have repeated this very call: then its own write is no conflict.
	return version == new
end

if version == '' then
	if redis.call('EXISTS', key) == 1 then
		return redis.error_reply('FOREIGN the hash has no version and record of an election')
	end
	local floor, token = tonumber(redis.call('GET', KEYS[2]) or '0'), tonumber(ARGV[7])
	if token < floor or (token == floor and floor > 0 and ARGV[8] ~= '1') then
		return false
	end
end

-- What is refused must be refused before the first write: a script is not rolled back.
if ARGV[6] == '1' then
	if redis.acl_check_cmd then
		if not redis.acl_check_cmd(publish, channel, '') then
			return redis.error_reply('NOPERM this user may not publish to channel ' .. channel)
		end
	elseif publish == 'SPUBLISH' then
		return redis.error_reply('UNSUPPORTED a Cluster needs Redis 7.0 or later, for its sharded channels')
	end
end

local time = redis.call('TIME')
if version == '' then
	redis.call('SADD', KEYS[3], ARGV[9])
end
redis.call('HSET', key, 'version', new, 'changed', time[1], 'record', ARGV[3])
local told = redis.pcall(publish, channel, new .. '\n' .. ARGV[3])
if type(told) == 'table' and told.err then
	return redis.error_reply('UNPUBLISHED the record is written, but: ' .. told.err)
end
return 1
