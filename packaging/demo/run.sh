#!/usr/bin/env bash
# The demo behind ./dev up: vagtd and vagt-agent on loopback, this host scraped every 5 s, the rules of rules/library, pages printed here.
# VAGT_PORT and VAGT_AGENT_PORT choose the ports (default 9090 and 9500, the next free ones when taken); VAGT_DEMO_DATA the
# folder of the store; VAGT_UP_SECONDS ends it by itself after that long (tests).
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
bin=$(readlink -f "$1")
data=${VAGT_DEMO_DATA:-$root/build/demo}
pids=()

say() { printf '\033[1m== %s\033[0m\n' "$*"; }

stop() {
  trap - EXIT INT TERM
  [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
  wait || true
  say "Stopped. The samples stay in $data/data"
}
trap stop EXIT
trap 'exit 0' INT TERM

free_port() {  # the first port from $1 on that nothing listens on
  local port=$1
  while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
  echo "$port"
}

answers() { # answers PORT PATH: whether GET PATH is a 200
  local line
  exec 3<>"/dev/tcp/127.0.0.1/$1" || return 1
  printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$2" >&3
  IFS= read -r line <&3 || line=
  exec 3<&- 3>&-
  [[ $line == *" 200 "* ]]
} 2>/dev/null

wait_for() {  # wait_for PORT PATH WHAT PID
  for _ in $(seq 200); do
    answers "$1" "$2" && return
    kill -0 "$4" 2>/dev/null || { echo "$3 ended; its words are above" >&2; exit 1; }
    sleep 0.1
  done
  echo "$3 does not answer on port $1 after 20 s" >&2
  exit 1
}

port=$(free_port "${VAGT_PORT:-9090}")
agent_port=$(free_port "${VAGT_AGENT_PORT:-9500}")
[ "$port" != "$agent_port" ] || agent_port=$(free_port $((agent_port + 1)))
mkdir -p "$data/agent"
exec 9>"$data/lock"
flock -n 9 || {
  pids=()
  trap - EXIT
  echo "another ./dev up runs on $data; end it first, or set VAGT_DEMO_DATA to another folder" >&2
  exit 1
}
cp "$root/packaging/demo/alertmanager.yml" "$data/alertmanager.yml"
sed "s|@AGENT@|127.0.0.1:$agent_port|; s|@SELF@|127.0.0.1:$port|; s|@RULES@|$root/rules/library|" \
  "$root/packaging/demo/prometheus.yml" >"$data/prometheus.yml"

say "Starting vagt-agent: this host's metrics on http://127.0.0.1:$agent_port/metrics"
"$bin/vagt-agent" --web.listen-address="127.0.0.1:$agent_port" --path.state="$data/agent" &
pids+=($!)
wait_for "$agent_port" /metrics vagt-agent "${pids[0]}"

say "Starting vagtd: scrapes the agent every 5 s, evaluates rules/library, prints pages below"
"$bin/vagtd" --config.file="$data/prometheus.yml" --alertmanager.config="$data/alertmanager.yml" \
  --storage.tsdb.path="$data/data" --web.listen-address="127.0.0.1:$port" --web.enable-lifecycle --log.level=warn &
pids+=($!)
wait_for "$port" /-/ready vagtd "${pids[1]}"

say "Sending a test page, so that you see one arrive"
"$bin/vagtctl" --alertmanager.url="http://127.0.0.1:$port" alert add TestPage severity=info source=demo \
  --annotation=summary="If you can read this, pages arrive." --end="$(date -u -d '+1 minute' +%Y-%m-%dT%H:%M:%SZ)"
sleep 2

cat <<TEXT

  vagtd is at http://127.0.0.1:$port, with a status page for your browser   (Ctrl-C stops everything)

  Try next, one after the other in another terminal; the page of the second arrives here:
    $bin/vagtctl query instant http://127.0.0.1:$port 'node_load1'
    $bin/vagtctl --alertmanager.url=http://127.0.0.1:$port alert add GpuLost gpu=3 severity=critical --annotation=summary='GPU 3 is gone'
    $bin/vagtctl --alertmanager.url=http://127.0.0.1:$port silence add alertname=GpuLost --comment='on it' --duration=1h

TEXT
if [ -n "${VAGT_UP_SECONDS:-}" ]; then
  sleep "$VAGT_UP_SECONDS" 9>&- &
  pids+=($!)
  wait $! || true
  exit 0
fi
wait -n "${pids[@]}" || true
echo "a program ended; its words are above" >&2
exit 1
