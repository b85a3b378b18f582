"""Units of examples/python/pgmarkets.py, against a server that does what a test says."""

import gzip
import itertools
import json
import queue
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest.mock import patch

import pgmarkets
from pgmarkets import ApiError, Client, EventParser, EventsGone, Frame, wait_after

MARKET = "01900000-0000-7000-8000-000000000001"
ORDER = {"marketId": MARKET, "side": "yes", "price": 50, "quantity": 1}


class FakeExchange:
    """Handles each request by the next of its steps, and keeps what came."""

    def __init__(self, *steps):
        self.steps = list(steps)
        self.requests = []
        self.connections = 0
        exchange = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                exchange.connections += 1

            def handle_any(self):
                length = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(length)) if length else None
                exchange.requests.append((self.command, self.path, dict(self.headers), body))
                exchange.steps.pop(0)(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.block_on_close = False
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.clients = []
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for client in self.clients:
            client.close()
        self.server.shutdown()
        self.server.server_close()

    def client(self, **options):
        made = Client(self.url, "jk_x", **options)
        self.clients.append(made)
        return made

    def headers_of(self, name):
        return [headers.get(name) for _, _, headers, _ in self.requests]


def answer(status, body, **headers):
    """Answers, and keeps the connection."""

    def step(request):
        data = json.dumps(body).encode()
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)

    return step


def lose(request):
    """Closes the connection without an answer."""
    request.close_connection = True


def lose_half(request):
    """Closes the connection in the middle of an answer."""
    request.send_response(200)
    request.send_header("Content-Length", "1000")
    request.end_headers()
    request.wfile.write(b'{"order')
    request.close_connection = True


def cut_after(*lines):
    """Closes the connection after some lines of the head of an answer."""

    def step(request):
        request.wfile.write("\r\n".join(lines).encode())
        request.close_connection = True

    return step


#: Answers whose heads are cut. What http.client makes of them looks whole.
CUT_HEADS = [
    cut_after("HTTP/1.1 201 Created", ""),
    cut_after("HTTP/1.1 200"),
    cut_after("HTTP/1.1 200 OK", "Date: Fri, 15 Jan 2027 12:00:00 GMT", "Content-Ty"),
    cut_after("HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: "),
    cut_after("HTTP/1.1 200 OK", "Content-Length: 20", ""),
    cut_after("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Content-Type: text/eve"),
    cut_after("HTTP/1.1 400 Bad Request", "X-Error-Code: INSUFF"),
    cut_after("HTTP/1.1 404 Not Found", ""),
]


def stream(*pieces, then=lose, is_gzip=False):
    """Opens a stream, sends pieces, and then does the rest."""

    def step(request):
        request.send_response(200)
        request.send_header("Content-Type", "text/event-stream")
        if is_gzip:
            request.send_header("Content-Encoding", "gzip")
        request.end_headers()
        data = "".join(pieces).encode()
        request.wfile.write(gzip.compress(data) if is_gzip else data)
        request.wfile.flush()
        then(request)
        request.close_connection = True

    return step


def frame(event_id, data):
    return f"id: {event_id}\ndata: {json.dumps(data)}\n\n"


def in_time(work):
    """What a function returns; an error if it takes half a minute."""
    results = queue.SimpleQueue()

    def run():
        try:
            results.put((work(), None))
        except BaseException as error:
            results.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    value, error = results.get(timeout=30)
    if error is not None:
        raise error
    return value


def take(items, count):
    return in_time(lambda: list(itertools.islice(items, count)))


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self):
        self.now = 0.0
        self.sleeps = []

    def sleep(self, seconds):
        self.sleeps.append(seconds)
        self.now += seconds

    def monotonic(self):
        return self.now


class WithClock(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        stubs = patch.multiple(
            pgmarkets.time, sleep=self.clock.sleep, monotonic=self.clock.monotonic
        )
        stubs.start()
        self.addCleanup(stubs.stop)

    def fail_with(self, *steps, **options):
        """The error of an order, and what the exchange got."""
        with FakeExchange(*steps) as exchange:
            with self.assertRaises(ApiError) as raised:
                exchange.client(**options).place(ORDER)
            return raised.exception, exchange


class ParserTest(unittest.TestCase):
    TEXT = (
        '\ufeff: ping\n\nid: 7\r\ndata: {"a": "\u20ac"}\r\n\r\nid: 8\n\n'
        "data:one\ndata:  two\nretry: 5\nevent: x\n\nid\rdata\r\rid: no\0\ndata: z\n\n"
    ).encode()
    FRAMES = [
        Frame("7", '{"a": "\u20ac"}'),
        Frame("8", None),
        Frame(None, "one\n two"),
        Frame("", ""),
        Frame(None, "z"),
    ]

    def test_frames_are_the_same_wherever_the_bytes_are_cut(self):
        for size in range(1, len(self.TEXT) + 1):
            parser = EventParser()
            pieces = [self.TEXT[at : at + size] for at in range(0, len(self.TEXT), size)]
            found = [frame for piece in pieces for frame in parser.feed(piece)]
            self.assertEqual(found, self.FRAMES, size)

    def test_what_follows_the_last_blank_line_is_no_frame(self):
        self.assertEqual(
            EventParser().feed(b"id: 1\ndata: a\n\nid: 2\ndata: b\n"), [Frame("1", "a")]
        )


class WaitTest(unittest.TestCase):
    def test_waits_double_up_to_a_bound_and_differ(self):
        for failures in range(1, 30):
            longest = min(10.0, 0.1 * 2 ** (failures - 1))
            waits = {wait_after(failures) for _ in range(50)}
            self.assertGreater(len(waits), 1)
            for wait in waits:
                self.assertTrue(longest / 2 <= wait <= longest)

    def test_the_longest_wait_is_one_that_can_be_slept(self):
        self.assertTrue(2e6 - 1 < wait_after(1, float("9" * 400)) < threading.TIMEOUT_MAX)

    def test_retry_after_is_the_least(self):
        for failures in range(1, 30):
            for wait in [wait_after(failures, 7.0) for _ in range(50)]:
                self.assertTrue(7.0 < wait <= 12.0)


class RetryTest(WithClock):
    def test_a_lost_answer_is_asked_for_again_with_the_same_key_and_body(self):
        replayed = answer(200, {"order": {"id": "1"}})
        with FakeExchange(lose, lose_half, replayed, replayed) as exchange:
            client = exchange.client()
            self.assertEqual(client.place(ORDER), {"order": {"id": "1"}})
            client.place(ORDER)
            *first, second = exchange.headers_of("Idempotency-Key")
            self.assertEqual(len(set(first)), 1)
            self.assertEqual(len(first), 3)
            self.assertNotEqual(second, first[0])
            for method, path, headers, body in exchange.requests:
                self.assertEqual((method, path, body), ("POST", "/api/v1/orders", ORDER))
                self.assertEqual(headers["Authorization"], "Bearer jk_x")
                self.assertEqual(headers["Prefer"], "handling=strict")

    def test_an_answer_that_is_cut_inside_its_headers_is_lost(self):
        for cut in CUT_HEADS:
            with FakeExchange(cut, answer(201, {"order": {"id": "1"}})) as exchange:
                self.assertEqual(exchange.client().place(ORDER), {"order": {"id": "1"}})
                self.assertEqual(len(set(exchange.headers_of("Idempotency-Key"))), 1)
            error, _ = self.fail_with(cut, patience=0.0)
            self.assertEqual((error.code, error.is_outcome_unknown), ("NO_ANSWER", True))

    def test_the_key_of_an_order_is_the_key_of_its_command(self):
        done = answer(201, {})
        with FakeExchange(lose, done, done, done) as exchange:
            client = exchange.client()
            client.place({**ORDER, "idempotencyKey": "k"})
            client.place({**ORDER, "idempotencyKey": "k"}, key="k")
            client.place({**ORDER, "idempotencyKey": None})
            *given, made = exchange.headers_of("Idempotency-Key")
            self.assertEqual(given, ["k"] * 3)
            self.assertEqual(len(made), 36)

    def test_every_command_has_a_key_and_takes_one(self):
        commands = [
            lambda client, **key: client.place(ORDER, **key),
            lambda client, **key: client.batch([ORDER], **key),
            lambda client, **key: client.amend("1", price=3, **key),
            lambda client, **key: client.cancel("1", **key),
            lambda client, **key: client.cancel_batch(["1"], **key),
            lambda client, **key: client.cancel_all(**key),
            lambda client, **key: client.dead_man(1000, **key),
            lambda client, **key: client.split(MARKET, 1, **key),
            lambda client, **key: client.merge(MARKET, 1, **key),
        ]
        for command in commands:
            with FakeExchange(answer(200, {}), lose, answer(200, {})) as exchange:
                client = exchange.client()
                command(client)
                command(client, key="k")
                made, *given = exchange.headers_of("Idempotency-Key")
                self.assertEqual(len(made), 36)
                self.assertEqual(given, ["k", "k"])

    def test_503_and_429_are_repeated_and_retry_after_is_obeyed(self):
        steps = [
            answer(503, {"error": "x", "code": "CONFLICT_RETRY"}, Retry_After=1),
            answer(429, {"error": "x"}, Retry_After=7, X_Error_Code="TOO_MANY_REQUESTS"),
            answer(503, {"error": "x", "code": "OUTCOME_UNKNOWN"}, Retry_After=1),
            answer(502, "a proxy"),
            answer(201, {"order": {}}),
        ]
        with FakeExchange(*steps) as exchange:
            exchange.client().place(ORDER)
            self.assertEqual(len(set(exchange.headers_of("Idempotency-Key"))), 1)
        for wait, least in zip(self.clock.sleeps, [1, 7, 1, 0]):
            self.assertTrue(least < wait < least + 1)
        self.assertEqual(len(self.clock.sleeps), 4)

    def test_a_rejection_is_raised_at_once_with_what_the_exchange_said(self):
        body = {"error": "Not enough", "code": "INSUFFICIENT_BALANCE"}
        error, exchange = self.fail_with(answer(400, body, X_Request_Id="r1"))
        self.assertEqual(len(exchange.requests), 1)
        self.assertEqual(self.clock.sleeps, [])
        self.assertEqual(
            (error.status, error.code, error.message, error.request_id, error.retry_after),
            (400, "INSUFFICIENT_BALANCE", "Not enough", "r1", None),
        )
        self.assertFalse(error.is_outcome_unknown)

    def test_a_code_may_come_in_the_header_alone(self):
        error, _ = self.fail_with(answer(404, {"error": "x"}, X_Error_Code="ORDER_NOT_FOUND"))
        self.assertEqual(error.code, "ORDER_NOT_FOUND")

    def test_a_pause_is_not_waited_for(self):
        paused = answer(503, {"error": "x", "code": "TRADING_PAUSED"}, Retry_After=1)
        error, exchange = self.fail_with(paused)
        self.assertEqual((error.code, len(exchange.requests)), ("TRADING_PAUSED", 1))

    def test_nothing_is_repeated_that_has_to_wait_longer_than_the_patience(self):
        error, exchange = self.fail_with(answer(429, {"error": "x"}, Retry_After=31))
        self.assertEqual((error.status, error.retry_after), (429, 31))
        self.assertEqual(len(exchange.requests), 1)

    def test_patience_ends_and_the_key_is_in_the_error(self):
        error, exchange = self.fail_with(*[lose] * 100, patience=5.0)
        self.assertEqual((error.status, error.code), (0, "NO_ANSWER"))
        self.assertTrue(error.is_outcome_unknown)
        self.assertEqual(set(exchange.headers_of("Idempotency-Key")), {error.key})
        # The waits are at least 0.05, 0.1, 0.2 and so on, and 5 seconds in all.
        self.assertTrue(5 < len(exchange.requests) < 9)
        self.assertLessEqual(self.clock.now, 5)

    def test_the_outcome_is_unknown_until_an_answer_tells(self):
        limited = answer(429, {"error": "x"}, Retry_After=99)
        rejected = answer(400, {"error": "x", "code": "INVALID_REQUEST"})
        failed = answer(500, {"error": "x"})
        for steps, is_unknown in [
            ([limited], False),
            ([lose, limited], True),
            ([lose, rejected], False),
            ([failed], True),
            ([lose, answer(401, {"error": "x"})], True),
            ([lose, answer(400, "a proxy")], True),
            ([lose, answer(404, {"error": "x"})], True),
            ([answer(400, "a proxy")], False),
        ]:
            error, _ = self.fail_with(*steps)
            self.assertEqual(error.is_outcome_unknown, is_unknown, error)

    def test_an_exchange_that_is_silent_is_given_up(self):
        silence = threading.Event()
        with FakeExchange(lambda _: silence.wait(30), answer(200, {})) as exchange:
            exchange.client(timeout=0.2).me()
            silence.set()
            self.assertEqual(len(exchange.requests), 2)

    def test_a_connection_is_kept_unless_the_exchange_has_closed_it(self):
        closed = threading.Event()

        def answer_and_close(request):
            answer(200, {})(request)
            request.close_connection = True
            closed.set()

        with FakeExchange(answer(200, {}), answer_and_close, answer(200, {})) as exchange:
            client = exchange.client()
            client.me()
            client.me()
            self.assertEqual(exchange.connections, 1)
            closed.wait(30)
            while not pgmarkets.is_readable(client._idle[0].sock):
                pass
            client.me()
            self.assertEqual((exchange.connections, self.clock.sleeps), (2, []))

    def test_what_is_not_json_is_no_answer_of_the_exchange(self):
        def page(request):
            request.send_response(200)
            request.send_header("Content-Length", "2")
            request.end_headers()
            request.wfile.write(b"<p")

        error, _ = self.fail_with(page)
        self.assertEqual((error.code, error.is_outcome_unknown), ("BAD_ANSWER", True))

    def test_cursors_are_followed_to_the_end(self):
        pages = [{"data": [1, 2], "nextCursor": "a+b"}, {"data": [], "nextCursor": "c"}]
        pages.append({"data": [3], "nextCursor": None})
        with FakeExchange(*[answer(200, page) for page in pages]) as exchange:
            fills = exchange.client().fills(market_id=MARKET)
            self.assertEqual(list(fills), [1, 2, 3])
            queries = [path.partition("?")[2] for _, path, _, _ in exchange.requests]
        first = f"limit=200&marketId={MARKET}"
        self.assertEqual(queries[0], first)
        self.assertEqual(
            queries[1:], [f"limit=200&cursor={c}&marketId={MARKET}" for c in ("a%2Bb", "c")]
        )


class UserStreamTest(unittest.TestCase):
    def test_it_goes_on_behind_the_last_whole_frame(self):
        connected = {"type": "connected"}
        first = [frame(5, connected), frame(6, {"type": "fill"}), "id: 9\n\n"]
        steps = [
            stream(*first, 'id: 10\ndata: {"type": "fi'),
            lose,
            answer(503, {"error": "Service unavailable"}),
            stream(frame(9, connected), frame(10, {"type": "fill"})),
        ]
        with FakeExchange(*steps) as exchange:
            events = exchange.client().follow_user()
            pairs = ((events.last_id, event["type"]) for event in events)
            seen = take(pairs, 3)
            self.assertEqual(seen, [("5", "connected"), ("6", "fill"), ("10", "fill")])
            self.assertEqual(exchange.headers_of("Last-Event-ID"), [None, "9", "9", "9"])
            self.assertEqual(exchange.headers_of("Authorization"), ["Bearer jk_x"] * 4)
            path = "/api/v1/user/stream?include=fills,settlements,markets"
            self.assertEqual(exchange.requests[0][1], path)

    def test_a_stream_that_is_cut_inside_its_headers_is_opened_again(self):
        begun = stream(frame(1, {"type": "connected"}))
        with patch.object(pgmarkets, "wait_after", lambda *_: 0):
            for cut in CUT_HEADS:
                with FakeExchange(cut, begun) as exchange:
                    self.assertEqual(len(take(exchange.client().follow_user(), 1)), 1)

    def test_iterated_again_it_goes_on(self):
        steps = [stream(frame(1, {"type": "connected"}), frame(2, {"type": "fill"}))] * 2
        with FakeExchange(*steps) as exchange:
            events = exchange.client().follow_user()
            self.assertEqual(take(events, 1), [{"type": "connected"}])
            self.assertEqual(take(events, 1), [{"type": "fill"}])
            self.assertEqual(exchange.headers_of("Last-Event-ID"), [None, "1"])

    def test_waits_begin_anew_only_after_a_steady_connection(self):
        clock = Clock()
        waited = []
        short = stream(frame(1, {"type": "connected"}))

        def last(_):
            while events.last_id != "2":
                time.sleep(0.001)
            clock.now += 10.1

        steady = stream(frame(2, {"type": "fill"}), then=last)
        end = answer(401, {"error": "x"})
        with FakeExchange(short, short, short, steady, short, end) as exchange:
            events = exchange.client().follow_user()
            with patch.object(pgmarkets, "wait_after", lambda n, _: waited.append(n) or 0):
                with patch.object(pgmarkets.time, "monotonic", clock.monotonic):
                    with self.assertRaises(ApiError):
                        take(events, 9)
        self.assertEqual(waited, [1, 2, 3, 1, 2])

    def test_events_that_are_gone_are_an_error_of_their_own(self):
        gone = answer(409, {"error": "gone", "code": "EVENTS_GONE"})
        steps = [gone, stream(frame(1, {"type": "connected"}))]
        with FakeExchange(*steps) as exchange:
            events = exchange.client().follow_user(last_id="3")
            with self.assertRaises(EventsGone):
                take(events, 1)
            self.assertEqual(take(events, 1), [{"type": "connected"}])
            self.assertEqual(exchange.headers_of("Last-Event-ID"), ["3", None])

    def test_a_revoked_key_is_an_error(self):
        with FakeExchange(answer(401, {"error": "Unauthorized"})) as exchange:
            with self.assertRaises(ApiError) as raised:
                take(exchange.client().follow_user(), 1)
            self.assertEqual(raised.exception.status, 401)

    def test_a_connection_without_pings_is_dead(self):
        silence = threading.Event()
        steps = [
            stream(frame(1, {"type": "connected"}), then=lambda _: silence.wait(30)),
            stream(frame(1, {"type": "connected"}), frame(2, {"type": "fill"})),
        ]
        with FakeExchange(*steps) as exchange:
            events = exchange.client().follow_user(dead_after=0.3)
            self.assertEqual([event["type"] for event in take(events, 2)], ["connected", "fill"])
            silence.set()

    def test_pings_keep_a_connection(self):
        def ping(request):
            for _ in range(8):
                time.sleep(0.5)
                request.wfile.write(b": ping\n\n")
                request.wfile.flush()
            request.wfile.write(frame(2, {"type": "fill"}).encode())

        with FakeExchange(stream(frame(1, {"type": "connected"}), then=ping)) as exchange:
            events = exchange.client().follow_user(dead_after=3.0)
            self.assertEqual(len(take(events, 2)), 2)
            self.assertEqual(len(exchange.requests), 1)

    def test_close_ends_it_while_it_waits(self):
        silence = threading.Event()
        opened = stream(frame(1, {"type": "connected"}), then=lambda _: silence.wait(30))
        with FakeExchange(opened) as exchange:
            events = exchange.client().follow_user()
            seen = []

            def read():
                for event in events:
                    seen.append(event)
                    threading.Timer(0.1, events.close).start()

            in_time(read)
            self.assertEqual((len(seen), len(exchange.requests)), (1, 1))
            silence.set()


def snapshot(version, yes):
    levels = [{"price": price, "quantity": quantity} for price, quantity in yes.items()]
    book = {"yesBids": levels, "noBids": [{"price": 40, "quantity": 7}]}
    trade = {"price": 55, "quantity": 1}
    rest = {"recentTrades": [trade], "tradersCount": 1, "status": "open"}
    return data({"marketId": MARKET, "version": version, "snapshot": {"orderBook": book, **rest}})


def change(since, version, *levels, trades=(), status="open"):
    rest = {"levels": levels, "trades": trades, "status": status}
    return data({"marketId": MARKET, "version": version, "since": since, **rest})


def data(body):
    return f"data: {json.dumps(body)}\n\n"


class BookStreamTest(unittest.TestCase):
    def follow(self, count, *steps):
        """So many changes, the requests, and whether the last book was current meanwhile."""
        with FakeExchange(*steps) as exchange:
            books = exchange.client().follow_books([MARKET])
            return take(books, count), exchange, books

    def test_changes_make_the_book(self):
        traded = change(7, 8, ["yes", 50, 0], trades=[{"price": 50}, {"price": 51}])
        for is_gzip in (False, True):
            frames = [snapshot(5, {50: 10, 48: 1}), change(5, 7, ["yes", 49, 3], ["no", 40, 2])]
            frames += [traded, change(8, 8, status="paused")]
            changes, exchange, books = self.follow(4, stream(*frames, is_gzip=is_gzip))
            self.assertEqual(exchange.headers_of("Accept-Encoding"), ["gzip"])
            first, second, third, last = [change.book for change in changes]
            self.assertEqual(first.bids(), [(50, 10), (48, 1)])
            self.assertEqual((first.asks(), first.middle(), first.last_price), ([(60, 7)], 55, 55))
            self.assertEqual(second.bids(), [(50, 10), (49, 3), (48, 1)])
            self.assertEqual(second.asks(), [(60, 2)])
            self.assertEqual((third.version, third.last_price), (8, 51))
            self.assertEqual((third.bids(), last.status), ([(49, 3), (48, 1)], "paused"))
            self.assertEqual([change.is_snapshot for change in changes], [True] + [False] * 3)
            self.assertEqual([len(change.trades) for change in changes], [0, 0, 2, 0])

    def test_a_gap_is_a_new_connection(self):
        broken = stream(snapshot(5, {50: 10}), change(6, 7, ["yes", 49, 3]), change(5, 6))
        whole = stream(snapshot(7, {50: 10, 49: 3}))
        changes, exchange, books = self.follow(2, broken, whole)
        self.assertEqual([change.book.version for change in changes], [5, 7])
        self.assertEqual(len(exchange.requests), 2)

    def test_a_change_before_the_snapshot_of_its_connection_is_a_gap(self):
        steps = [stream(snapshot(5, {50: 10})), stream(change(5, 6)), stream(snapshot(9, {}))]
        changes, _, _ = self.follow(2, *steps)
        self.assertEqual([change.book.version for change in changes], [5, 9])

    def test_a_book_is_not_current_while_the_connection_is_lost(self):
        seen = []

        def look(request):
            seen.append(books.books[MARKET].is_current)
            stream(snapshot(6, {}))(request)

        with FakeExchange(stream(snapshot(5, {})), look) as exchange:
            books = exchange.client().follow_books([MARKET])
            changes = take(books, 2)
        self.assertEqual(seen, [False])
        self.assertTrue(changes[1].book.is_current)

    def test_a_price_near_a_book_is_not_beyond_its_best(self):
        for levels, last, near in [
            ([{40: 1, 35: 9}, {50: 1, 45: 9}], 90, 45),
            ([{40: 1, 35: 9}, {}], 90, 90),
            ([{40: 1, 35: 9}, {}], 20, 40),
            ([{}, {50: 1, 45: 9}], 20, 20),
            ([{}, {50: 1, 45: 9}], 90, 50),
            ([{}, {}], 70, 70),
        ]:
            book = pgmarkets.Book(market_id=MARKET, version=1, yes=levels[0], no=levels[1])
            self.assertEqual(book.near(last), near, levels)

    def test_own_orders_are_taken_out_of_a_book(self):
        changes, _, _ = self.follow(1, stream(snapshot(5, {50: 10, 48: 4})))
        buy = {"side": "yes", "price": 50, "quantity": 9, "filledQuantity": 2}
        sell = {"side": "yes", "price": 60, "quantity": 7, "filledQuantity": 0}
        own = [
            {**buy, "orderType": "buy", "status": "partially_filled"},
            {**buy, "orderType": "buy", "status": "scheduled", "price": 48},
            {**sell, "orderType": "sell", "status": "open"},
        ]
        others = changes[0].book.without(own)
        self.assertEqual((dict(others.yes), dict(others.no)), ({50: 3, 48: 4}, {}))
        self.assertIsNone(others.middle())
