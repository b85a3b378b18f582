#!/usr/bin/env bash
# A market maker in curl and jq: it bids for YES below the last price, and for NO as far above it.
# Needs KEY and MARKET; BASE is the address of the service.
set -euo pipefail
: "${BASE:=http://127.0.0.1:3000}" "${KEY:?}" "${MARKET:?}"
margin=2 # cents between the last price and a quote
quantity=10
directory=$(mktemp --directory)
trap 'rm -r "$directory"' EXIT
answer=$directory/answer.json

# Sends a request to a path, with further options of curl, and keeps the body of the answer. curl
# repeats it after 429, 503, a lost connection and ten seconds without an answer, and waits as long
# as Retry-After says. An idempotency key is in the body, so it stays the same. Fails after an error,
# which it prints; without an answer curl prints it.
request() {
  local status
  status=$(curl --silent --show-error --max-time 10 --output "$answer" --write-out '%{http_code}' \
    --retry 5 --retry-all-errors --retry-max-time 60 \
    --header "Authorization: Bearer $KEY" --header "Content-Type: application/json" \
    "${@:2}" "$BASE$1") || return
  [[ $status != 2* ]] || return 0
  echo "$1: $status $(jq --raw-output .error "$answer")" >&2
  return 1
}

cancel_all() {
  request "/api/v1/orders?marketId=$MARKET" || return
  jq '{orderIds: [.data[].id]}' "$answer" >"$directory/ids.json"
  if jq --exit-status '.orderIds != []' "$directory/ids.json" >/dev/null; then
    request /api/v1/orders/cancel-batch --data "@$directory/ids.json"
  fi
}

# Places a bid for a side at a price. It expires, should this script be killed.
place() {
  local key expires
  key=$(cat /proc/sys/kernel/random/uuid)
  expires=$(date --utc --date '10 minutes' +%FT%TZ)
  jq --null-input --arg market "$MARKET" --arg side "$1" --argjson price "$2" \
    --argjson quantity "$quantity" --arg expires "$expires" --arg key "$key" \
    '{marketId: $market, $side, $price, $quantity, postOnly: true, expiresAt: $expires,
      idempotencyKey: $key}' >"$directory/order.json"
  if request /api/v1/orders --data "@$directory/order.json"; then
    echo "$1 @ $2: $(jq --raw-output .order.status "$answer")"
  else
    echo "$1 @ $2: not placed"
  fi
}

finish() {
  local code=$?
  trap '' INT TERM
  kill "$stream" 2>/dev/null || true
  cancel_all || code=1
  rm -r "$directory"
  exit "$code"
}

# A wrong key or an unknown market ends the program here.
cancel_all
request "/api/v1/markets/$MARKET"

stream=
trap finish EXIT
trap 'exit 0' INT TERM

last=
while true; do
  exec 3< <(exec curl --silent --show-error --fail --no-buffer --connect-timeout 10 \
    "$BASE/api/v1/markets/$MARKET/stream")
  stream=$!
  while read -r -t 60 -u 3 line; do # there is a ping every 25 seconds
    [[ $line == "data: "* ]] || continue
    price=$(jq '.recentTrades[0].price // 50' <<<"${line#data: }")
    [[ $price != "$last" ]] || continue
    last=$price
    cancel_all
    place yes $((price - margin))
    place no $((100 - price - margin))
  done
  kill "$stream" 2>/dev/null || true
  sleep 1 # the stream has ended, or is dead
done
