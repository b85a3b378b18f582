import { BlockList, isIPv6 } from "node:net";
import type { RequestHandler } from "express";
import { ipAddressOf } from "../client_address.ts";
import { notFound } from "./error_handler.ts";

/** Says whether an address is in a list. */
export type AddressList = (address: string) => boolean;

/** A list of addresses and networks, such as `127.0.0.0/8,::1`. */
export function addressList(text: string): AddressList {
  const list = new BlockList();
  for (const part of text.split(",")) {
    const [address = "", bits] = part.trim().split("/");
    const family = familyOf(address);
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => list.check(address, familyOf(address));
}

const familyOf = (address: string): "ipv6" | "ipv4" => (isIPv6(address) ? "ipv6" : "ipv4");

/**
 * For other clients there is nothing here. What a proxy forwards is from another client than it seems,
 * unless the proxy is trusted to say from which.
 */
export function onlyFor(list: AddressList | undefined): RequestHandler {
  return (request, response, next) => {
    const address = ipAddressOf(request);
    const isForwarded =
      request.app.get("trust proxy") === false && request.get("X-Forwarded-For") !== undefined;
    if (address !== undefined && !isForwarded && list?.(address) === true) next();
    else void notFound(request, response, next);
  };
}
