create or replace function admin.read_csv(csv text)
returns table (line bigint, fields text[])
language plpgsql immutable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant int := 1000000;
  c_cr constant text := chr(13);
  c_lf constant text := chr(10);
  -- Begins what stands for a character that is in quotes. Itself it stands as one, too.
  c_mark constant text := chr(1);
  v_pieces text[];
  v_is_csv boolean;
  v_plain text;
begin
  if length(read_csv.csv) > c_most then
    perform core.raise_error(
      'INVALID_REQUEST', format('The text has more than %s characters', c_most)
    );
  end if;

  -- Every second piece is in quotes. Nothing between two of those is a quote in a field. Fields are
  -- not looked for one by one: that is slow in a text of commas.
  v_pieces := string_to_array(replace(read_csv.csv, c_mark, c_mark || 'm'), '"');
  select
    bool_and(
      p.is_quoted and not p.is_last
      or not p.is_quoted
      and (p.place = 1 or left(p.piece, 1) in ('', ',', c_lf) or p.is_last and p.piece = c_cr)
      and (p.is_last or right(p.piece, 1) in ('', ',', c_lf))
    ),
    string_agg(
      case
        when p.is_quoted then replace(
          replace(replace(p.piece, ',', c_mark || 'c'), c_lf, c_mark || 'l'), c_cr, c_mark || 'r'
        )
        when p.piece = '' and p.place > 1 and not p.is_last then c_mark || 'q'
        when p.is_last then p.piece
        else p.piece || c_mark || 'o'
      end,
      '' order by p.place
    )
  into v_is_csv, v_plain
  from (
    select
      u.place,
      u.place = cardinality(v_pieces) as is_last,
      u.place % 2 = 0 as is_quoted,
      case u.place % 2
        when 0 then u.piece
        else replace(u.piece, c_cr || c_lf, c_lf)
      end as piece
    from unnest(v_pieces) with ordinality as u (piece, place)
  ) as p;
  -- psql takes the last line feed off a file.
  if right(v_plain, 1) = c_cr then
    v_plain := left(v_plain, -1);
  end if;
  if not v_is_csv or strpos(v_plain, c_cr) > 0 then
    perform core.raise_error(
      'INVALID_REQUEST', 'The text is not CSV: a field with a quote must be in quotes'
    );
  end if;

  return query
  select
    l.line,
    case
      when strpos(l.plain, c_mark) = 0 then string_to_array(l.plain, ',')
      else (
        select array_agg(
          case
            when strpos(f.field, c_mark) = 0 then f.field
            else replace(replace(replace(replace(replace(replace(
              f.field, c_mark || 'o', ''), c_mark || 'q', '"'), c_mark || 'c', ','),
              c_mark || 'l', c_lf), c_mark || 'r', c_cr), c_mark || 'm', c_mark)
          end
          order by f.place
        )
        from string_to_table(l.plain, ',') with ordinality as f (field, place)
      )
    end
  from string_to_table(v_plain, c_lf) with ordinality as l (plain, line)
  where l.plain <> '';
end
$$;

comment on function admin.read_csv(text) is
  'The lines of a CSV text, each with its fields: a comma separates them, and a field may stand in '
  'quotes. Empty lines are left out. It reads and changes nothing, so it is not audited. Errors: '
  'INVALID_REQUEST (not CSV, or more than a million characters).';
