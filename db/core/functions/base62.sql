create or replace function core.base62(number numeric, width int)
returns text
language plpgsql immutable parallel safe
as $$
declare
  c_digits constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  v_rest numeric := base62.number;
  v_text text := '';
begin
  while v_rest > 0 loop
    v_text := substr(c_digits, (v_rest % 62)::int + 1, 1) || v_text;
    v_rest := div(v_rest, 62);
  end loop;
  return lpad(v_text, greatest(base62.width, length(v_text)), '0');
end
$$;

comment on function core.base62(numeric, int) is
  'A whole number in base 62 (0-9A-Za-z), zero-padded to a width.';
