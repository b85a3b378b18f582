create or replace function ledger.canonical_row(relation regclass)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format(
    '''{'' || concat_ws('', '', %s) || ''}''',
    string_agg(
      format('%L || to_json(t.%I)', format('"%s": ', a.attname), a.attname),
      ', ' order by a.attname collate "C"
    )
  )
  from pg_catalog.pg_attribute as a
  where a.attrelid = canonical_row.relation
    and a.attnum > 0
    and not a.attisdropped
$$;

comment on function ledger.canonical_row(regclass) is
  'An expression that makes the row t of a table the text that is hashed: a JSON object of its '
  'columns in the order of their names, "name": value, with a comma and a space between them. '
  'Nulls are left out, so a column that a release adds does not change the text of older rows. '
  'Times have the zone of the session, so who runs the expression sets UTC.';
