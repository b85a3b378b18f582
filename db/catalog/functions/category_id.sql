create or replace function catalog.category_id(slug text)
returns bigint
language plpgsql stable
as $$
declare
  v_id bigint;
begin
  select c.id into v_id
  from catalog.categories as c
  where c.slug = category_id.slug;
  if not found then
    perform core.raise_error('NOT_FOUND', format('There is no category %s', category_id.slug));
  end if;
  return v_id;
end
$$;

comment on function catalog.category_id(text) is
  'The key of a category by its slug. Errors: NOT_FOUND.';
