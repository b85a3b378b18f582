create or replace function admin.create_category(
  slug text, name text, "position" int default null
)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_constraint text;
  v_column text;
begin
  perform admin.check_role('create_category');
  insert into catalog.categories (slug, name, "position")
  values (
    create_category.slug,
    create_category.name,
    coalesce(
      create_category."position",
      (
        select least(coalesce(max(c."position"), 0), 2147483646) + 1
        from catalog.categories as c
      )
    )
  );
  perform admin.audit('create_category', jsonb_build_object(
    'slug', create_category.slug,
    'name', create_category.name,
    'position', create_category."position"
  ));
  return create_category.slug;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when unique_violation then
    perform core.raise_error(
      'ALREADY_EXISTS', format('The category %s already exists', create_category.slug)
    );
end
$$;

comment on function admin.create_category(text, text, int) is
  'Makes a category; without a position it comes last. Returns its slug. Errors: '
  'INVALID_REQUEST, ALREADY_EXISTS.';
