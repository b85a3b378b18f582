create or replace function identity.plain_address(address inet)
returns inet
language sql immutable parallel safe
return case
  when plain_address.address <<= inet '::ffff:0:0/96'
    then inet '0.0.0.0' + (host(plain_address.address)::inet - inet '::ffff:0:0')
  else host(plain_address.address)::inet
end;

comment on function identity.plain_address(inet) is
  'The address of a host without a network, and as IPv4 if it is IPv4 written as IPv6.';
