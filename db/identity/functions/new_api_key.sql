create or replace function identity.new_api_key(prefix text)
returns text
language plpgsql volatile
as $$
declare
  -- Three random UUIDs hold 366 random bits; their SHA-256 is 32 random bytes.
  v_bytes bytea := sha256(
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
  );
  v_number numeric := 0;
  v_body text;
begin
  for i in 0 .. 31 loop
    v_number := v_number * 256 + get_byte(v_bytes, i);
  end loop;
  v_body := new_api_key.prefix || core.base62(v_number, 43);
  return v_body || core.base62(core.crc32(convert_to(v_body, 'UTF8')), 6);
end
$$;

comment on function identity.new_api_key(text) is
  'A new secret, of an API key (jk_), of an analyst''s or an operator''s key (ja_, jo_), of a '
  'session''s cookie (js_, or jh_ under https; of staff jf_), of a session''s token (jt_) or of a '
  'link in a mail (jl_): the prefix, 32 random bytes in base62 (43 characters), and the CRC-32 of '
  'all that in base62 (6 characters), which shows without a look-up that a text is no key.';
