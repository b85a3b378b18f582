"""A market maker: it bids for YES and for NO around the middle of the book. KEY and MARKET are
needed, BASE is the address of the exchange. It lowers its price of the side that it has more of."""

import os
import signal
import threading
import time
from typing import Any, Dict, List

from pgmarkets import ApiError, Client, Order, PlaceOrder

MARKET = os.environ["MARKET"]
EDGE = 2  # cents between the middle and a bid; both bids move by one at most for what it holds
SIZE = 10  # shares of a bid
MOST_HELD = 100  # shares of one side more than of the other
DEAD_MAN_MS = 15_000  # the exchange cancels its orders when it is silent for so long

client = Client(os.environ.get("BASE", "http://127.0.0.1:3000"), os.environ["KEY"])
stream = client.follow_books([MARKET])
stop: List[object] = []  # gets signals and errors


def follow(items: Any) -> None:
    """Reads a stream to its end, and prints the fills in it."""
    try:
        for item in items:
            if isinstance(item, dict) and item["type"] == "fill":
                print(f"bought {item['quantity']} {item['side']} at {item['price']}", flush=True)
    except Exception as error:
        stop.append(error)


def wanted_prices(own: List[Order]) -> Dict[str, int]:
    """The price of its bid for each side; none while the book is not known, or not open."""
    book = stream.books.get(MARKET)
    if book is None or not book.is_current or book.status != "open":
        return {}
    held = client.holdings(MARKET)
    more = {"yes": held["yes"] - held["no"], "no": held["no"] - held["yes"]}
    middle = book.without(own).near(book.last_price or 50)
    fair = middle - max(-1, min(1, more["yes"] / MOST_HELD))
    prices = {"yes": int(fair - EDGE), "no": int(100 - fair - EDGE)}
    return {s: p for s, p in prices.items() if 0 < p < 100 and more[s] + SIZE <= MOST_HELD}


def quote() -> None:
    """Cancels the bids that are not wanted any more, or else places those that are missing."""
    own = client.orders(MARKET)
    prices = wanted_prices(own)
    kept = {o["side"]: o["id"] for o in own if o["price"] == prices.get(o["side"])}
    strays = [o["id"] for o in own if o["id"] not in kept.values()]
    if strays:
        client.cancel_batch(strays)
        return quote()  # what it holds may have changed
    for s, p in [(s, p) for s, p in prices.items() if s not in kept]:
        bid: PlaceOrder = {"marketId": MARKET, "side": s, "price": p, "quantity": SIZE}
        try:
            client.place({**bid, "postOnly": True})
        except ApiError as error:
            print(s, p, error, flush=True)  # the other side is placed all the same


for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: stop.append(number))
for items in (stream, client.follow_user(["fills"])):
    threading.Thread(target=follow, args=[items], daemon=True).start()
try:
    while not stop:
        try:
            client.dead_man(DEAD_MAN_MS)
            quote()
        except ApiError as error:
            print(error, flush=True)  # the next round tries again
        time.sleep(2)  # within the rate limits
finally:
    client.cancel_all(MARKET)
    client.dead_man(0)
if isinstance(stop[0], Exception):
    raise stop[0]
