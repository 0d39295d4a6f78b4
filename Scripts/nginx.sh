# A private nginx on loopback; sourced after lib.sh. One at a time: start_nginx sets nginx_url and nginx_log.

nginx_pid=
nginx_url=
nginx_log=

# start_nginx DOCUMENTS STATE: serves the folder DOCUMENTS from a free port, as the user who calls; STATE (made) keeps its
# configuration and logs. Each answer waits 20 to 120 ms, as it would from afar; the same URL always as long.
start_nginx() {
    local documents="$1" state="$2" port attempt
    mkdir -p "$state"
    nginx_log="$state/access.log"
    for attempt in 1 2 3 4 5; do
        port="$(free_port)"
        write_nginx_configuration "$documents" "$state" "$port" >"$state/nginx.conf"
        : >"$nginx_log"
        PATH="$PATH:/usr/sbin:/sbin" nginx -p "$state" -c "$state/nginx.conf" 2>"$state/stderr.log" &
        nginx_pid=$!
        if wait_for_port "$port" "$nginx_pid"; then
            nginx_url="http://127.0.0.1:$port"
            return 0
        fi
        stop_nginx
    done
    cat "$state/stderr.log" "$state/error.log" >&2 || true
    die "nginx did not start"
}

stop_nginx() {
    [ -n "$nginx_pid" ] || return 0
    kill "$nginx_pid" 2>/dev/null || true
    wait "$nginx_pid" 2>/dev/null || true
    nginx_pid=
}

free_port() {
    "$system_python" -c 'import socket
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    print(s.getsockname()[1])'
}

# wait_for_port PORT PROCESS: whether the port answers before ten seconds are over, and before the process just started gives up.
wait_for_port() {
    local deadline=$((SECONDS + 10))
    while [ "$SECONDS" -lt "$deadline" ]; do
        (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && kill -0 "$2" 2>/dev/null && return 0
        kill -0 "$2" 2>/dev/null || return 1
        sleep 0.05
    done
    return 1
}

write_nginx_configuration() {
    local documents="$1" state="$2" port="$3"
    # As root nginx would hand its work to another user, who may not be allowed to read the folder.
    [ "$(id -u)" -ne 0 ] || printf 'user root;\n'
    cat <<END
daemon off;
worker_processes 1;
pid $state/nginx.pid;
error_log $state/error.log;
load_module /usr/lib/nginx/modules/ngx_http_echo_module.so;
events { worker_connections 512; }
http {
    types { image/jpeg jpg; image/png png; image/webp webp; }
    log_format bytes '\$status \$body_bytes_sent \$request_uri';
    access_log $state/access.log bytes;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 100000;
    client_body_temp_path $state/body;
    proxy_temp_path $state/proxy;
    fastcgi_temp_path $state/fastcgi;
    uwsgi_temp_path $state/uwsgi;
    scgi_temp_path $state/scgi;
    split_clients \$request_uri \$delay { 25% 0.02; 25% 0.04; 25% 0.07; * 0.12; }
    server {
        listen 127.0.0.1:$port;
        location / { echo_sleep \$delay; echo_exec @files; }
        location @files { root $documents; add_header Cache-Control max-age=3600; }
    }
}
END
}
