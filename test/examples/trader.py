"""Gives random commands in a market, through connections that break, and keeps what it learns.

Prints "trading" after some commands and goes on. A line "stop" on stdin ends the commands, which it
prints. A line with a version ends its streams: when it has the book of this version and the event
"mark", it prints what it knows as JSON.
"""

import json
import os
import random
import sys
import threading

from pgmarkets import ApiError, Client

MARKET = os.environ["MARKET"]
LEAST_COMMANDS = 100
#: How commands may be rejected, since others trade meanwhile.
EXPECTED = {
    "INSUFFICIENT_BALANCE",
    "INSUFFICIENT_LIQUIDITY",
    "SELF_TRADE_BLOCKED",
    "POST_ONLY_WOULD_CROSS",
    "ORDER_NOT_CANCELLABLE",
    "ORDER_NOT_AMENDABLE",
    "BELOW_FILLED",
}

chance = random.Random(os.environ["SEED"])
client = Client(os.environ["BASE"], os.environ["KEY"])
user_stream = client.follow_user()
book_stream = client.follow_books([MARKET])
events = []
order_ids = []
sets = {"split": 0, "merge": 0}
has_begun = threading.Event()
news = threading.Condition()


def follow_user():
    for event in user_stream:
        if event["type"] == "mark":
            return
        events.append({"id": user_stream.last_id, "event": event})
        has_begun.set()


def follow_books():
    for _ in book_stream:
        with news:
            news.notify_all()


def random_order():
    order = {
        "marketId": MARKET,
        "side": chance.choice(["yes", "no"]),
        "price": chance.randint(44, 56),
        "quantity": chance.randint(1, 9),
        "orderType": chance.choice(["buy", "buy", "sell"]),
        "timeInForce": chance.choice(["gtc", "gtc", "gtc", "ioc", "fok"]),
        "selfTrade": chance.choice(["reject", "cancel_resting"]),
    }
    return order


def keep(order):
    if order["id"] not in order_ids:
        order_ids.append(order["id"])


def give_command():
    kind = chance.choice(["place"] * 5 + ["amend"] * 3 + ["cancel", "batch", "sets", "all", "read"])
    if kind == "place":
        keep(client.place(random_order())["order"])
    elif kind == "amend" and order_ids:
        order_id = chance.choice(order_ids[-5:])
        keep(client.amend(order_id, price=chance.randint(44, 56))["order"])
    elif kind == "cancel" and order_ids:
        client.cancel(chance.choice(order_ids[-5:]))
    elif kind == "batch":
        for result in client.batch([random_order() for _ in range(3)])["results"]:
            if result["status"] == 201:
                keep(result["body"]["order"])
            else:
                assert result["body"]["code"] in EXPECTED, result
    elif kind == "sets":
        name = chance.choice(["split", "merge"])
        getattr(client, name)(MARKET, chance.randint(1, 5))
        sets[name] += 1
    elif kind == "all":
        client.cancel_all(MARKET)
    else:
        client.preview(random_order())


def is_at(version):
    book = book_stream.books.get(MARKET)
    return book is not None and book.is_current and book.version == version


user_thread = threading.Thread(target=follow_user, daemon=True)
user_thread.start()
threading.Thread(target=follow_books, daemon=True).start()
has_begun.wait()
has_to_stop = threading.Event()


def wait_for_stop():
    sys.stdin.readline()
    has_to_stop.set()


waiting = threading.Thread(target=wait_for_stop, daemon=True)
waiting.start()
commands = 0
while not has_to_stop.is_set():
    try:
        give_command()
    except ApiError as error:
        if error.code not in EXPECTED:
            raise
    commands += 1
    if commands == LEAST_COMMANDS:
        print("trading", flush=True)
print("stopped", flush=True)
waiting.join()

last_version = int(sys.stdin.readline())
with news:
    news.wait_for(lambda: is_at(last_version))
user_thread.join()
book = book_stream.books[MARKET]
known = {
    "orderIds": order_ids,
    "sets": sets,
    "events": events,
    "book": {
        "bids": [{"price": price, "quantity": quantity} for price, quantity in book.bids()],
        "asks": [{"price": price, "quantity": quantity} for price, quantity in book.asks()],
    },
    "isBookRead": client.book(MARKET) == book,
    "fillIds": [fill["id"] for fill in client.fills()],
}
print(json.dumps(known), flush=True)
