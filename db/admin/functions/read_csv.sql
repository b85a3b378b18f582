create or replace function admin.read_csv(csv text)
returns table (line bigint, fields text[])
language plpgsql immutable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant int := 1000000;
  c_cr constant text := chr(13);
  c_lf constant text := chr(10);
  -- A field in quotes or without, and what ends it. psql takes the last line feed off a file.
  c_field constant text := '((?:"((?:[^"]|"")*)"|([^",' || c_cr || c_lf || ']*))(,|'
    || c_cr || '?(?:' || c_lf || '|$)))';
  v_is_read boolean;
begin
  if length(read_csv.csv) > c_most then
    perform core.raise_error(
      'INVALID_REQUEST', format('The text has more than %s characters', c_most)
    );
  end if;
  select coalesce(sum(length(f.parts[1])), 0) = length(read_csv.csv) into v_is_read
  from regexp_matches(read_csv.csv, c_field, 'g') as f (parts);
  if not v_is_read then
    perform core.raise_error(
      'INVALID_REQUEST', 'The text is not CSV: a field with a quote must be in quotes'
    );
  end if;

  return query
  with parts as (
    select
      f.place,
      f.parts[2] is not null as is_quoted,
      coalesce(replace(f.parts[2], '""', '"'), f.parts[3]) as field,
      count(*) filter (where f.parts[4] <> ',') over (
        order by f.place rows between unbounded preceding and 1 preceding
      ) + 1 as line
    from regexp_matches(read_csv.csv, c_field, 'g') with ordinality as f (parts, place)
  )
  select p.line, array_agg(p.field order by p.place)
  from parts as p
  group by p.line
  having not (count(*) = 1 and bool_and(p.field = '' and not p.is_quoted))
  order by p.line;
end
$$;

comment on function admin.read_csv(text) is
  'The lines of a CSV text, each with its fields: a comma separates them, and a field may stand in '
  'quotes. Empty lines are left out. It reads and changes nothing, so it is not audited. Errors: '
  'INVALID_REQUEST (not CSV, or more than a million characters).';
