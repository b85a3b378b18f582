create or replace function core.sorted(words text[])
returns text[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case when sorted.words is not null then array(
    select distinct w.word collate "C" from unnest(sorted.words) as w (word) order by 1
  ) end
$$;

comment on function core.sorted(text[]) is
  'Words in ascending order, each once; null of null.';
