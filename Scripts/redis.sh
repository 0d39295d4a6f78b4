# A private redis-server on loopback; sourced after lib.sh and nginx.sh. One at a time: start_redis sets redis_url.

redis_pid=
redis_url=

# start_redis STATE: starts a server without persistence on a free port, of at most 100 MB; STATE (made) keeps its log.
start_redis() {
    local state="$1" port attempt program
    # Newer Fedora has Valkey.
    program="$(command -v redis-server || command -v valkey-server)" || die "redis-server is not installed"
    mkdir -p "$state"
    for attempt in 1 2 3 4 5; do
        port="$(free_port)"
        "$program" --bind 127.0.0.1 --port "$port" --dir "$state" --save '' --appendonly no \
            --maxmemory 100mb --maxmemory-policy allkeys-lru >"$state/redis.log" 2>&1 &
        redis_pid=$!
        if wait_for_port "$port" "$redis_pid"; then
            redis_url="redis://127.0.0.1:$port"
            return 0
        fi
        stop_redis
    done
    cat "$state/redis.log" >&2
    die "redis-server did not start"
}

stop_redis() {
    [ -n "$redis_pid" ] || return 0
    kill "$redis_pid" 2>/dev/null || true
    wait "$redis_pid" 2>/dev/null || true
    redis_pid=
}
