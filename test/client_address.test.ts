import test from "ava";
import { clientAddressOf, ipAddressOf } from "../src/client_address.ts";

for (const [ip, expected] of [
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["::FFFF:192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:0DB8:0001:0002::6", "2001:db8:1:2::/64"],
  ["2001:db8::2:3:4:5:6", "2001:db8:0:2::/64"],
  ["2001:db8::", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["64:ff9b::192.0.2.7", "64:ff9b:0:0::/64"],
  ["1::3:4:5:6:192.0.2.7", "1:0:3:4::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["", "unknown"],
  [undefined, "unknown"],
  ["_hidden", "unknown"],
  ["x".repeat(5000), "unknown"],
] as const) {
  test(`a client at ${String(ip).slice(0, 40)} is counted as ${expected}`, (t) => {
    t.is(clientAddressOf({ ip }), expected);
  });
}

for (const [ip, expected] of [
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "::ffff:192.0.2.7"],
  ["2001:db8::2:3:4:5:6", "2001:db8::2:3:4:5:6"],
  ["fe80::1%eth0", "fe80::1"],
  ["fe80::1%\n192.0.2.7", "fe80::1"],
  ["192.0.2.7:80", undefined],
  ["192.0.2.0/24", undefined],
  ["", undefined],
  [undefined, undefined],
  ["_hidden", undefined],
] as const) {
  test(`the address of a client at ${JSON.stringify(ip)} is ${String(expected)}`, (t) => {
    t.is(ipAddressOf({ ip }), expected);
  });
}
