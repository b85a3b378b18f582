import type { Mutation } from "./mutation.ts";

/** What API keys may do, until when and from where. */
export const keys: Mutation[] = [
  {
    name: "keys_never_expire",
    breaks: "an expired key is valid",
    from: "(key).expires_at > core.now()",
    to: "(key).expires_at is not null",
    tests: ["db/admin/api_key_powers"],
  },
  {
    name: "keys_expire_a_moment_late",
    mark: "keys_never_expire",
    breaks: "a key is valid at the moment at which it expires",
    from: "> core.now()",
    to: ">= core.now()",
    tests: ["db/admin/api_key_powers"],
  },
  {
    name: "keys_outlive_their_expiry",
    breaks: "servers remember a key for longer than it is valid",
    from: "least(5000, extract(epoch from k.expires_at - core.now()) * 1000)",
    to: "5000",
    tests: ["db/admin/api_key_powers", "http/key_powers"],
  },
  {
    name: "keys_valid_everywhere",
    breaks: "a key is valid at any address",
    tests: ["db/admin/api_key_powers", "http/key_powers"],
    from: "k.allowed_addresses is null",
    to: "true",
  },
  {
    name: "mapped_addresses_are_others",
    breaks: "IPv4 that is written as IPv6 is refused",
    from: "identity.plain_address(authenticate_key.address)",
    to: "authenticate_key.address",
    tests: ["db/admin/api_key_powers"],
  },
  {
    name: "networks_count_as_addresses",
    breaks: "an address is taken with the length of a network",
    from: "host(plain_address.address)::inet",
    to: "plain_address.address",
    tests: ["db/admin/api_key_powers"],
  },
  {
    name: "keys_rotated_at_once",
    breaks: "rotations of one key at the same moment fail as internal errors",
    from: " for no key update;",
    to: ";",
    tests: ["db/admin/api_key_powers"],
  },
  {
    name: "rotated_keys_stay",
    breaks: "a key that is rotated without an overlap stays valid",
    tests: ["db/admin/api_key_powers"],
  },
  {
    name: "rotation_prolongs",
    breaks: "a rotation makes the old key valid for longer than it was",
    from: "least(k.expires_at, v_at + rotate_api_key.overlap)",
    to: "v_at + rotate_api_key.overlap",
    tests: ["db/admin/api_key_powers"],
  },
  {
    name: "rotation_adds_scopes",
    breaks: "the key of a rotation may do more than the old one",
    from: "v_old.scopes",
    to: "'{read,trade}'",
    tests: ["db/admin/api_key_powers"],
  },
  {
    name: "rotation_opens_addresses",
    breaks: "the key of a rotation is valid everywhere",
    from: "v_old.allowed_addresses",
    to: "null",
    tests: ["db/admin/api_key_powers"],
  },
  {
    name: "keys_made_beside_a_revocation",
    breaks: "a key that is being made when all are revoked stays",
    from: " for no key update;",
    to: ";",
    tests: ["db/admin/api_key_powers"],
  },
];
