local redis_fence, redis_token = table.remove(KEYS), table.remove(ARGV)
do
	local mark = tonumber(redis.call('GET', redis_fence) or '0')
	if tonumber(redis_token) < mark then
		return redis.error_reply(string.format('FENCED token %s is below %.0f', redis_token, mark))
	end
	if tonumber(redis_token) > mark then
		redis.call('SET', redis_fence, redis_token)
	end
end
