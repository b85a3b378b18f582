create or replace function core.page_object(data json, total bigint, page int, page_size int)
returns json
language sql stable parallel safe
return json_build_object(
  'data', coalesce(data, '[]'),
  'meta', json_build_object(
    'total', total,
    'page', page,
    'limit', page_size,
    'hasMore', total > page::bigint * page_size
  )
);

comment on function core.page_object(json, bigint, int, int) is
  'One page of a list as the interface gives it. data is null on a page beyond the end; page '
  'counts from 1.';
