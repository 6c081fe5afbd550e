-- Writes a record if its version is still the expected one, and publishes it.
-- KEYS: the record; if none is expected also the floor and the set of names of its bucket
-- ARGV: expected version (empty: none), nonce, record, token, '1' if vacant, election, publishing command, channel
-- Returns: the new version, or nil if the version was another one
local expected, nonce, record, token = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local vacant, election, publish, channel = ARGV[5] == '1', ARGV[6], ARGV[7], ARGV[8]

local version = redis.call('HGET', KEYS[1], 'version')
if version and string.sub(version, -#nonce - 1) == '-' .. nonce then
	return version -- this very call has been here before: something on the way repeated it
end
if (version or '') ~= expected then
	return false
end
if not version then
	if redis.call('EXISTS', KEYS[1]) == 1 then
		return redis.error_reply('FOREIGN the hash has no version and record of an election')
	end
	local floor = tonumber(redis.call('GET', KEYS[2]) or '0')
	if token < floor or (token == floor and floor > 0 and not vacant) then
		return false
	end
end

-- What is refused from here on must be refused before the first write: a script is not rolled back.
if redis.acl_check_cmd then
	if not redis.acl_check_cmd(publish, channel, '') then
		return redis.error_reply('NOPERM this user may not publish to channel ' .. channel)
	end
elseif publish == 'SPUBLISH' then
	return redis.error_reply('UNSUPPORTED a Cluster needs Redis 7.0 or later, for its sharded channels')
end

local count = version and tonumber(string.match(version, '^%d+')) or 0
local new = string.format('%d-%s', count + 1, nonce)
local time = redis.call('TIME')
if not version then
	redis.call('SADD', KEYS[3], election)
end
redis.call('HSET', KEYS[1], 'version', new, 'changed_ms', time[1] * 1000 + math.floor(time[2] / 1000), 'record', record)
local told = redis.pcall(publish, channel, new .. '\n' .. record)
if type(told) == 'table' and told.err then
	return redis.error_reply('UNPUBLISHED the record is written, but: ' .. told.err)
end
return new
