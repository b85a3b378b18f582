create or replace function core.crc32(bytes bytea)
returns bigint
language plpgsql immutable parallel safe
as $$
declare
  v_crc bigint := 4294967295;
begin
  for i in 0 .. length(crc32.bytes) - 1 loop
    v_crc := v_crc # get_byte(crc32.bytes, i);
    for j in 1 .. 8 loop
      v_crc := (v_crc >> 1) # ((v_crc & 1) * 3988292384);
    end loop;
  end loop;
  return v_crc # 4294967295;
end
$$;

comment on function core.crc32(bytea) is 'CRC-32 (IEEE 802.3) of some bytes.';
