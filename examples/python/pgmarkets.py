"""A client of a pgmarkets exchange. One file, the standard library only, Python 3.9 or later.

    from pgmarkets import Client
    client = Client("http://127.0.0.1:3000", key="jk_...")
    client.place({"marketId": market, "side": "yes", "price": 55, "quantity": 20})

Bodies and answers are the JSON of the exchange, as `/docs` of the server shows it. Money is whole cents.
A client may be used by several threads, a stream by one.
"""

from __future__ import annotations

import codecs
import http.client
import json
import math
import random
import re
import selectors
import socket
import threading
import time
import uuid
import zlib
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import (
    Any,
    Dict,
    Generator,
    Generic,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
)
from typing import Sequence, Tuple, TypedDict, TypeVar
from urllib.parse import quote, urlencode, urlsplit

Json = Dict[str, Any]
Item = TypeVar("Item")
Level = Tuple[int, int]  # price and shares


class PlaceOrder(TypedDict, total=False):
    """An order to place. A buy without `budgetCents` needs `price`; None is a market order."""

    marketId: str
    side: str
    price: Optional[int]
    quantity: Optional[int]
    budgetCents: Optional[int]
    orderType: Optional[str]
    timeInForce: Optional[str]
    selfTrade: Optional[str]
    idempotencyKey: Optional[str]
    expiresAt: Optional[str]
    postOnly: Optional[bool]


class OwnFill(TypedDict):
    """What one trade did to one of the caller's orders. The price is of the order's own side."""

    id: str
    orderId: str
    marketId: str
    side: str
    orderType: str
    price: int
    quantity: int
    liquidity: str
    feeCents: int
    cashCents: int
    balanceAfter: int
    realisedPnl: Optional[int]
    createdAt: str


class Order(TypedDict):
    """One of the caller's orders, as the list of orders has it."""

    id: str
    userId: str
    marketId: str
    marketTitle: str
    side: str
    price: int
    quantity: int
    filledQuantity: int
    status: str
    orderType: str
    timeInForce: str
    cancelReason: Optional[str]
    expiresAt: Optional[str]
    releaseAt: Optional[str]
    releaseInMs: Optional[int]
    budgetCents: Optional[int]
    createdAt: str
    sharesAhead: int


class OrderDetail(Order):
    """An order with its fills, and with what it replaced."""

    averagePrice: Optional[float]
    feeCents: int
    replaces: Optional[str]
    replacedBy: Optional[str]
    fills: List[OwnFill]


class StatementEntry(TypedDict):
    """One entry of the caller's account in the ledger."""

    id: int
    kind: str
    amountCents: int
    balanceAfter: int
    marketId: Optional[str]
    tradeId: Optional[str]
    reference: Optional[str]
    createdAt: str


class ApiError(Exception):
    """A request that failed. `code` is one of docs/errors.md, or NO_ANSWER (status 0: the connection
    broke), TIMEOUT (status 0) or BAD_ANSWER (it is not of the exchange)."""

    def __init__(
        self,
        status: int,
        code: Optional[str],
        message: str,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
        body: Optional[Json] = None,
    ) -> None:
        super().__init__(f"{status} {code}: {message} (request {request_id})")
        self.status = status
        self.code = code
        self.message = message
        #: Names the request in the log of the exchange.
        self.request_id = request_id
        #: Seconds until the next attempt may succeed.
        self.retry_after = retry_after
        self.body = body or {}
        #: Of a command: give it again with this key, and it is not carried out twice.
        self.key: Optional[str] = None
        #: Whether the command may have been carried out.
        self.is_outcome_unknown = False

    @property
    def is_temporary(self) -> bool:
        """Whether the same request may succeed soon."""
        if self.status == 503:
            return self.code != "TRADING_PAUSED"
        return self.status in (0, 408, 429, 502, 504)

    @property
    def leaves_doubt(self) -> bool:
        """Whether this attempt may have been carried out."""
        if self.status == 503:
            return self.code in (None, "OUTCOME_UNKNOWN")
        return self.status < 300 or self.status >= 500

    @property
    def ends_doubt(self) -> bool:
        """Whether no attempt before this one was carried out either. The exchange looks for the key
        after it has checked who asks and how often, and before it applies its rules."""
        if self.code == "TRADING_PAUSED":
            return True
        if self.code is None:
            return False  # something between client and exchange has answered
        return 400 <= self.status < 500 and self.status not in (401, 403, 408, 429)


class EventsGone(ApiError):
    """The events behind `last_id` are not kept any more. Read your state, and iterate again."""


#: What a connection raises that breaks.
LOST = (OSError, http.client.HTTPException, zlib.error)

FIRST_WAIT = 0.1
LONGEST_WAIT = 10.0
#: Longer than any wait that makes sense, and not too long for a sleep.
MOST_SECONDS = 2_000_000.0
#: A stream that was open for so many seconds was a good one: the waits begin anew after it.
STEADY = 10.0


def wait_after(failures: int, retry_after: Optional[float] = None) -> float:
    """Seconds to wait after so many failures in a row: twice as long each time, at least what the
    exchange asks for, and not until the same moment as all others."""
    longest = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (failures - 1))
    wait: float = longest * random.uniform(0.5, 1)
    return wait if retry_after is None else min(MOST_SECONDS, retry_after + wait / 2)


@dataclass(frozen=True)
class Answer:
    """An answer with success."""

    status: int
    headers: http.client.HTTPMessage
    body: Any


class Client:
    """Gives commands and reads. Every command has an Idempotency-Key, made here unless it is given.
    When the answer is lost, after 429 and after a 503 that is not a pause, the same request is sent
    again with the same key. So a command is carried out once, however often it was sent."""

    def __init__(
        self, url: str, key: Optional[str] = None, *, timeout: float = 10.0, patience: float = 30.0
    ) -> None:
        """Without an API key, only public reads are answered. Each attempt waits `timeout` seconds
        for a part of its answer. None begins later than `patience` seconds after the first."""
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._port = parts.port
        self._is_secure = parts.scheme == "https"
        self._prefix = parts.path.rstrip("/")
        self._headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self._timeout = timeout
        self._patience = patience
        self._idle: List[http.client.HTTPConnection] = []

    def close(self) -> None:
        """Closes the connections that are kept for the next request."""
        for connection in self._take_idle():
            connection.close()

    # Orders

    def place(self, order: PlaceOrder, *, key: Optional[str] = None) -> Json:
        """Places an order: `{order, fills, cancelledOrders, balance, feeCents}`. Its key may also be
        in the order."""
        return self._command("POST", "/orders", order, key or order.get("idempotencyKey"))

    def preview(self, order: PlaceOrder) -> Json:
        """What an order would do now. It changes nothing."""
        answer: Json = self.send("POST", "/orders/preview", body=order).body
        return answer

    def batch(
        self, orders: Sequence[PlaceOrder], *, atomic: bool = False, key: Optional[str] = None
    ) -> Json:
        """Places up to 50 orders: `{results: [{status, body}], balance}`."""
        return self._command("POST", "/orders/batch", {"orders": orders, "atomic": atomic}, key)

    def amend(
        self,
        order_id: str,
        *,
        price: Optional[int] = None,
        quantity: Optional[int] = None,
        key: Optional[str] = None,
    ) -> Json:
        """Changes price or quantity. The order of the answer may be a new one in its place."""
        body = {"price": price, "quantity": quantity}
        return self._command("PATCH", f"/orders/{quote(order_id)}", body, key)

    def cancel(self, order_id: str, *, key: Optional[str] = None) -> Json:
        """Cancels an order: `{order, balance}`."""
        return self._command("DELETE", f"/orders/{quote(order_id)}", None, key)

    def cancel_batch(self, order_ids: Sequence[str], *, key: Optional[str] = None) -> Json:
        """Cancels up to 100 orders: `{cancelled, failures, balance}`."""
        return self._command("POST", "/orders/cancel-batch", {"orderIds": order_ids}, key)

    def cancel_all(self, market_id: Optional[str] = None, *, key: Optional[str] = None) -> Json:
        """Cancels all open orders, of all markets or of one: `{cancelled, balance}`."""
        return self._command("POST", "/orders/cancel-all", {"marketId": market_id}, key)

    def dead_man(self, timeout_ms: int, *, key: Optional[str] = None) -> Json:
        """Unless this is called again in time, all open orders are cancelled. 0 turns it off."""
        return self._command("PUT", "/orders/dead-man", {"timeoutMs": timeout_ms}, key)

    def read_dead_man(self) -> Json:
        """When the dead man's switch fires: `{expiresAt}`."""
        return self.read("/orders/dead-man")

    def orders(self, market_id: Optional[str] = None, status: str = "open") -> List[Order]:
        """The newest orders, at most 200. `order_history` has all."""
        orders: List[Order] = self.read("/orders", marketId=market_id, status=status)["data"]
        return orders

    def order(self, order_id: str) -> OrderDetail:
        """One order with its fills."""
        order: OrderDetail = self.send("GET", f"/orders/{quote(order_id)}").body
        return order

    # The account

    def split(self, market_id: str, quantity: int, *, key: Optional[str] = None) -> Json:
        """Makes complete sets of a YES and a NO share out of 100 cents each."""
        body = {"marketId": market_id, "quantity": quantity}
        return self._command("POST", "/positions/split", body, key)

    def merge(self, market_id: str, quantity: int, *, key: Optional[str] = None) -> Json:
        """Gives complete sets back for 100 cents each."""
        body = {"marketId": market_id, "quantity": quantity}
        return self._command("POST", "/positions/merge", body, key)

    def me(self) -> Json:
        """The account."""
        return self.read("/me")

    def rate_limits(self) -> Json:
        """How often the account may ask."""
        return self.read("/me/rate-limits")

    def portfolio(self) -> Json:
        """Cash, positions and open orders."""
        return self.read("/me/portfolio")

    def holdings(self, market_id: str) -> Dict[str, int]:
        """The shares of a market, by side."""
        held = {"yes": 0, "no": 0}
        for position in self.portfolio()["positions"]:
            if position["marketId"] == market_id:
                held[position["side"]] = position["quantity"]
        return held

    def order_history(self, market_id: Optional[str] = None) -> Iterator[OrderDetail]:
        """All orders with their fills, newest first."""
        return self._rows("/me/order-history", marketId=market_id)

    def fills(
        self, market_id: Optional[str] = None, order_id: Optional[str] = None
    ) -> Iterator[OwnFill]:
        """All fills, newest first."""
        return self._rows("/me/fills", marketId=market_id, orderId=order_id)

    def statement(
        self, begin: Optional[str] = None, end: Optional[str] = None
    ) -> Iterator[StatementEntry]:
        """The entries of the account from a time until before another, newest first."""
        return self._rows("/me/statement", **{"from": begin, "to": end})

    # Markets

    def markets(self, **filters: Any) -> Iterator[Json]:
        """Markets by `query`, `category`, `status` and `sort`."""
        page = 1
        while True:
            answer = self.read("/markets", page=page, limit=50, **filters)
            yield from answer["data"]
            if not answer["meta"]["hasMore"]:
                return
            page += 1

    def market(self, market_id: str) -> Json:
        """A market with its best prices."""
        return self.read(f"/markets/{quote(market_id)}")

    def rules(self, market_id: str) -> Json:
        """The fee, the delay of a live market and the bounds of orders."""
        return self.read(f"/markets/{quote(market_id)}/rules")

    def exchange(self) -> Json:
        """Whether the exchange trades, and its time."""
        return self.read("/exchange")

    def book(self, market_id: str) -> Book:
        """The book of a market. It says nothing of status and last price."""
        answer = self.send("GET", f"/markets/{quote(market_id)}/orderbook")
        return Book(
            market_id=market_id,
            version=int(answer.headers["X-Market-Version"]),
            yes={level["price"]: level["quantity"] for level in answer.body["bids"]},
            no={100 - level["price"]: level["quantity"] for level in answer.body["asks"]},
        )

    # Streams

    def follow_user(
        self,
        include: Iterable[str] = ("fills", "settlements", "markets"),
        *,
        last_id: Optional[str] = None,
        dead_after: float = 60.0,
    ) -> UserStream:
        """What happens to the account, from now on or behind an id."""
        return UserStream(self, include, last_id=last_id, dead_after=dead_after)

    def follow_books(self, market_ids: Sequence[str], *, dead_after: float = 60.0) -> BookStream:
        """Books of up to 200 markets that are kept up to date."""
        return BookStream(self, market_ids, dead_after=dead_after)

    # Requests

    def read(self, path: str, **query: Any) -> Json:
        """The body of a GET below /api/v1. Values that are None are left out."""
        body: Json = self.send("GET", path, query=query).body
        return body

    def _rows(self, path: str, **query: Any) -> Iterator[Any]:
        cursor: Optional[str] = None
        while True:
            page = self.read(path, limit=200, cursor=cursor, **query)
            yield from page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def _command(self, method: str, path: str, body: Any, key: Optional[str]) -> Json:
        answer: Json = self.send(method, path, body=body, key=key or str(uuid.uuid4())).body
        return answer

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        key: Optional[str] = None,
    ) -> Answer:
        """Sends a request until it is answered. Raises ApiError."""
        # A field that the exchange does not know is an error, and is not ignored.
        headers = {**self._headers, "Prefer": "handling=strict"}
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(body).encode()
        if key is not None:
            headers["Idempotency-Key"] = key
        target = self.target(path, query or {})
        last_start = time.monotonic() + self._patience
        failures = 0
        is_doubtful = False
        while True:
            try:
                return self._send_once(method, target, content, headers)
            except ApiError as error:
                failures += 1
                is_doubtful = error.leaves_doubt or (is_doubtful and not error.ends_doubt)
                error.key = key
                error.is_outcome_unknown = key is not None and is_doubtful
                wait = wait_after(failures, error.retry_after)
                if not error.is_temporary or time.monotonic() + wait > last_start:
                    raise
            time.sleep(wait)

    def _send_once(
        self, method: str, target: str, content: Optional[bytes], headers: Mapping[str, str]
    ) -> Answer:
        connection = self._take_connection()
        try:
            connection.request(method, target, content, dict(headers))
            response = connection.getresponse()
            check_headers(response)
            data = response.read()
        except LOST as error:
            connection.close()
            code = "TIMEOUT" if isinstance(error, socket.timeout) else "NO_ANSWER"
            raise ApiError(0, code, f"{method} {target}: {error!r}") from error
        except BaseException:
            connection.close()
            raise
        if not response.will_close:
            self._idle.append(connection)
        if response.status >= 300:
            raise error_of(response, data)
        try:
            return Answer(response.status, response.headers, json.loads(data))
        except ValueError as error:
            raise bad_answer(response, "The answer is not JSON") from error

    def _take_connection(self) -> http.client.HTTPConnection:
        """One that is open and has nothing to read: what the exchange has closed can be read."""
        for connection in self._take_idle():
            if connection.sock is not None and not is_readable(connection.sock):
                return connection
            connection.close()
        return self.new_connection(self._timeout)

    def _take_idle(self) -> Iterator[http.client.HTTPConnection]:
        """Takes one kept connection after the other. Other threads may do so, too."""
        with suppress(IndexError):
            while True:
                yield self._idle.pop()

    # For streams

    def new_connection(self, timeout: float) -> http.client.HTTPConnection:
        """A connection that is not open yet."""
        kind = http.client.HTTPSConnection if self._is_secure else http.client.HTTPConnection
        return kind(self._host, self._port, timeout=timeout)

    def target(self, path: str, query: Mapping[str, Any]) -> str:
        """The path of a request with its query."""
        given = {name: value for name, value in query.items() if value is not None}
        return f"{self._prefix}/api/v1{path}{'?' if given else ''}{urlencode(given, safe=',')}"

    @property
    def authorization(self) -> Mapping[str, str]:
        """The header with the key."""
        return self._headers


def is_readable(sock: socket.socket) -> bool:
    """Whether there is something to read, such as the end."""
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(timeout=0))


def is_stream(response: http.client.HTTPResponse) -> bool:
    """Whether its body is a stream of events."""
    return (response.getheader("Content-Type") or "").startswith("text/event-stream")


def check_headers(response: http.client.HTTPResponse) -> None:
    """Raises one of LOST if the connection ended inside the headers, which http.client takes for
    their end. An answer has a length, comes in chunks, cannot have a body, or is a stream."""
    if response.length is None and not response.chunked and not is_stream(response):
        response.close()
        raise http.client.HTTPException("The connection ended inside the headers")


def error_of(response: http.client.HTTPResponse, data: bytes) -> ApiError:
    """The error that an answer is. A proxy may have answered, so anything may be missing."""
    try:
        parsed = json.loads(data)
    except ValueError:
        parsed = None
    body: Json = parsed if isinstance(parsed, dict) else {}
    code = body.get("code") or response.getheader("X-Error-Code")
    retry_after = response.getheader("Retry-After") or ""
    kind = EventsGone if code == "EVENTS_GONE" else ApiError
    return kind(
        response.status,
        code,
        str(body.get("error", response.reason)),
        request_id=response.getheader("X-Request-Id"),
        retry_after=float(retry_after) if retry_after.isdecimal() else None,
        body=body,
    )


def bad_answer(response: http.client.HTTPResponse, message: str) -> ApiError:
    """The error that a success is which cannot be understood."""
    return ApiError(response.status, "BAD_ANSWER", message, response.getheader("X-Request-Id"))


class Frame(NamedTuple):
    """One message of a stream. A position has an id and no data."""

    id: Optional[str]
    data: Optional[str]


class EventParser:
    """Makes frames of the bytes of a stream of Server-Sent Events, however they are cut. Bytes
    after the last blank line are no frame yet."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._text = ""
        self._id: Optional[str] = None
        self._data: List[str] = []

    def feed(self, piece: bytes) -> List[Frame]:
        """The frames that end in these bytes."""
        frames: List[Frame] = []
        self._text += self._decoder.decode(piece)
        # A CR at the end may be half of a CRLF.
        *lines, self._text = re.split(r"\r\n|\n|\r(?=.)", self._text, flags=re.DOTALL)
        for line in lines:
            if line == "":
                if self._id is not None or self._data:
                    frames.append(Frame(self._id, "\n".join(self._data) if self._data else None))
                self._id, self._data = None, []
                continue
            name, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if name == "data":
                self._data.append(value)
            elif name == "id" and "\0" not in value:
                self._id = value
        return frames


class Gap(Exception):
    """A frame does not follow the ones before it."""


class Stream(Generic[Item]):
    """A stream that opens again by itself. Iterate over it, in one thread; any thread may close
    it. Raises ApiError when the exchange does not let it open."""

    def __init__(
        self, client: Client, path: str, query: Mapping[str, Any], dead_after: float
    ) -> None:
        """The exchange pings every 25 seconds. After `dead_after` seconds without a byte the
        connection is given up."""
        self._client = client
        self._target = client.target(path, query)
        self._dead_after = dead_after
        self._closed = threading.Event()
        self._socket: Optional[socket.socket] = None
        self._opened_at = math.inf

    def close(self) -> None:
        """Ends the stream, also while another thread waits for its next item."""
        self._closed.set()
        opened = self._socket
        if opened is not None:
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)

    def __iter__(self) -> Iterator[Item]:
        failures = 0
        while not self._closed.is_set():
            retry_after: Optional[float] = None
            self._opened_at = math.inf
            try:
                with closing(self._frames()) as frames:
                    for frame in frames:
                        item = self._take(frame)
                        if item is not None:
                            yield item
            except ApiError as error:
                if not error.is_temporary and error.status != 500:
                    raise
                retry_after = error.retry_after
            except (Gap, *LOST):
                pass
            finally:
                self._lost()
            is_steady = time.monotonic() - self._opened_at > STEADY
            failures = 1 if is_steady else failures + 1
            self._closed.wait(wait_after(failures, retry_after))

    def _frames(self) -> Generator[Frame, None, None]:
        """The frames of one connection."""
        connection = self._client.new_connection(self._dead_after)
        try:
            connection.connect()
            # The connection forgets its socket when an answer without a length begins.
            self._socket = connection.sock
            if self._closed.is_set():
                return
            headers = {**self._client.authorization, **self._more_headers()}
            connection.request("GET", self._target, headers=headers)
            response = connection.getresponse()
            check_headers(response)
            if response.status != 200:
                raise error_of(response, response.read())
            if not is_stream(response):
                response.read()  # raises if the answer was cut, maybe inside its headers
                raise bad_answer(response, "The answer is not an event stream")
            self._opened_at = time.monotonic()
            is_gzip = response.getheader("Content-Encoding") == "gzip"
            unpack = zlib.decompressobj(wbits=31).decompress if is_gzip else bytes
            parser = EventParser()
            while not self._closed.is_set():
                piece = response.read1(65536)
                if piece == b"":
                    return
                yield from parser.feed(unpack(piece))
        finally:
            self._socket = None
            connection.close()

    def _more_headers(self) -> Mapping[str, str]:
        return {}

    def _take(self, frame: Frame) -> Optional[Item]:
        """What a frame is for the caller. Raises Gap to start over."""
        raise NotImplementedError

    def _lost(self) -> None:
        """The connection is gone."""


class UserStream(Stream[Json]):
    """The events of the account, each once and in order, however often the connection breaks. The
    first one is `connected`: read your state then. Iterated again, it goes on. Raises EventsGone when events were lost. While
    an event is handled, `last_id` is its id: keep it to go on in another process."""

    def __init__(
        self, client: Client, include: Iterable[str], *, last_id: Optional[str], dead_after: float
    ) -> None:
        super().__init__(client, "/user/stream", {"include": ",".join(include) or None}, dead_after)
        self.last_id = last_id
        self._has_begun = False

    def __iter__(self) -> Iterator[Json]:
        try:
            yield from super().__iter__()
        except EventsGone:
            self.last_id = None
            self._has_begun = False
            raise

    def _more_headers(self) -> Mapping[str, str]:
        return {} if self.last_id is None else {"Last-Event-ID": self.last_id}

    def _take(self, frame: Frame) -> Optional[Json]:
        if frame.id is not None:
            self.last_id = frame.id
        if frame.data is None:
            return None
        event: Json = json.loads(frame.data)
        if event["type"] != "connected":
            return event
        # One that goes on is not a beginning.
        is_beginning = not self._has_begun
        self._has_begun = True
        return event if is_beginning else None


@dataclass(frozen=True)
class Book:
    """The resting shares of a market at one version, as bids for YES and bids for NO: a bid for NO
    at 38 is an offer of YES at 62. It never changes: a stream puts a new one in its place."""

    market_id: str
    version: int
    yes: Mapping[int, int]
    no: Mapping[int, int]
    status: Optional[str] = field(default=None, compare=False)
    last_price: Optional[int] = field(default=None, compare=False)
    #: False from the loss of the connection to the next snapshot.
    is_current: bool = field(default=True, compare=False)

    def bids(self) -> List[Level]:
        """YES prices and shares, the highest price first."""
        return sorted(self.yes.items(), reverse=True)

    def asks(self) -> List[Level]:
        """YES prices and shares, the lowest price first."""
        return sorted((100 - price, shares) for price, shares in self.no.items())

    def middle(self) -> Optional[float]:
        """Between the best bid and the best ask; None if one is missing."""
        if not self.yes or not self.no:
            return None
        return (max(self.yes) + 100 - max(self.no)) / 2

    def near(self, price: float) -> float:
        """The middle. If a side is missing: this price, but not beyond the best of the other side."""
        middle = self.middle()
        if middle is not None:
            return middle
        return min(max([price, *self.yes]), 100 - max(self.no, default=0))

    def without(self, orders: Iterable[Order]) -> Book:
        """The book less these resting bids, such as the own ones."""
        levels = {"yes": dict(self.yes), "no": dict(self.no)}
        for order in orders:
            if order["status"] == "scheduled":
                continue
            # A sell at 40 rests as a bid for the other side at 60.
            is_buy = order["orderType"] == "buy"
            side = order["side"] if is_buy else "no" if order["side"] == "yes" else "yes"
            price = order["price"] if is_buy else 100 - order["price"]
            left = levels[side].get(price, 0) - order["quantity"] + order["filledQuantity"]
            if left > 0:
                levels[side][price] = left
            else:
                levels[side].pop(price, None)
        return replace(self, yes=levels["yes"], no=levels["no"])


class Change(NamedTuple):
    """A book after a frame, and the trades of the frame, oldest first. A snapshot has no trades:
    read those that were missed."""

    book: Book
    trades: List[Json]
    is_snapshot: bool


class BookStream(Stream[Change]):
    """Keeps `books`, by the ids of their markets, up to date. Each change must follow the version
    of the book; if one does not, the stream starts over with snapshots."""

    def __init__(self, client: Client, market_ids: Sequence[str], *, dead_after: float) -> None:
        super().__init__(client, "/stream", {"markets": ",".join(market_ids)}, dead_after)
        self.books: Dict[str, Book] = {}

    def _more_headers(self) -> Mapping[str, str]:
        return {"Accept-Encoding": "gzip"}

    def _take(self, frame: Frame) -> Optional[Change]:
        if frame.data is None:
            return None
        change = apply_change(self.books, json.loads(frame.data))
        self.books[change.book.market_id] = change.book
        return change

    def _lost(self) -> None:
        for market_id, book in self.books.items():
            self.books[market_id] = replace(book, is_current=False)


def apply_change(books: Mapping[str, Book], data: Json) -> Change:
    """The book that a frame of the stream of changes makes. Raises Gap if it lacks changes."""
    market_id, version = data["marketId"], data["version"]
    snapshot = data.get("snapshot")
    if snapshot is not None:
        sides = snapshot["orderBook"]
        newest = snapshot["recentTrades"][:1]
        book = Book(
            market_id,
            version,
            yes={level["price"]: level["quantity"] for level in sides["yesBids"]},
            no={level["price"]: level["quantity"] for level in sides["noBids"]},
            status=snapshot["status"],
            last_price=newest[0]["price"] if newest else None,
        )
        return Change(book, [], True)
    before = books.get(market_id)
    if before is None or not before.is_current or before.version != data["since"]:
        raise Gap(f"{market_id}: {data['since']} does not follow {before and before.version}")
    levels = {"yes": dict(before.yes), "no": dict(before.no)}
    for side, price, quantity in data["levels"]:
        if quantity > 0:
            levels[side][price] = quantity
        else:
            levels[side].pop(price, None)
    trades: List[Json] = data["trades"]
    book = replace(
        before,
        version=version,
        yes=levels["yes"],
        no=levels["no"],
        status=data["status"],
        last_price=trades[-1]["price"] if trades else before.last_price,
    )
    return Change(book, trades, False)
