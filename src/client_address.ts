import { isIP, isIPv4, isIPv6 } from "node:net";
import type { Request } from "express";

/** For a client that has hung up, or whose proxy sends no address. */
const UNKNOWN = "unknown";

/**
 * What a client is counted by: its IPv4 address, also when written as IPv6, or the /64 network of its
 * IPv6 address, since a subscriber gets at least that.
 */
export function clientAddressOf(request: Pick<Request, "ip">): string {
  const address = request.ip ?? UNKNOWN;
  const [, mapped = address] = /^::ffff:([\d.]+)$/i.exec(address) ?? [];
  if (isIPv4(mapped)) return mapped;
  return isIPv6(address) ? `${networkOf(address)}::/64` : UNKNOWN;
}

/**
 * The address of a client as it is, which API keys may be bound to. Undefined for a client that has
 * hung up, or whose proxy sends no address.
 */
export function ipAddressOf(request: Pick<Request, "ip">): string | undefined {
  // The network interface is not part of the address.
  const address = request.ip?.replace(/%.*/s, "") ?? "";
  return isIP(address) === 0 ? undefined : address;
}

/** The first four groups of an IPv6 address, in their shortest form. */
function networkOf(address: string): string {
  const [head = "", tail] = address.replace(/%.*/, "").split("::");
  const groupsOf = (part: string) => part.split(":").filter((group) => group !== "");
  const groups = groupsOf(head);
  if (tail !== undefined) {
    // An IPv4 address at the end stands for two groups, neither of them among the first four.
    const left = 8 - groups.length - groupsOf(tail).length - (tail.includes(".") ? 1 : 0);
    groups.push(...Array.from({ length: left }, () => "0"), ...groupsOf(tail));
  }
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
