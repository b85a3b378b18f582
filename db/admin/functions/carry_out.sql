create or replace function admin.carry_out(
  command text, inout arguments jsonb, out result jsonb
)
language plpgsql volatile
as $$
declare
  v_function pg_catalog.pg_proc;
  v_names text[];
  v_wrong text;
  v_columns text;
  v_values text;
begin
  select p.* into strict v_function
  from admin.commands as c
  join pg_catalog.pg_proc as p on p.proname = c.command
  where c.command = carry_out.command
    and c.approval <> 'never'
    and p.pronamespace = 'admin'::regnamespace;
  v_names := v_function.proargnames[:v_function.pronargs];
  if jsonb_typeof(carry_out.arguments) is distinct from 'object' then
    perform core.raise_error('INVALID_REQUEST', 'The arguments must be an object, by their names');
  end if;
  select g.name into v_wrong
  from jsonb_object_keys(carry_out.arguments) as g (name)
  where g.name <> all (v_names)
  order by g.name
  limit 1;
  if found then
    perform core.raise_error(
      'INVALID_REQUEST', format('admin.%s has no argument %s', carry_out.command, v_wrong)
    );
  end if;
  select a.name into v_wrong
  from unnest(v_names) with ordinality as a (name, place)
  where a.place <= v_function.pronargs - v_function.pronargdefaults
    and not carry_out.arguments ? a.name
  order by a.place
  limit 1;
  if found then
    perform core.raise_error(
      'INVALID_REQUEST', format('admin.%s needs the argument %s', carry_out.command, v_wrong)
    );
  end if;

  -- Names and types are those of the catalogue. Values never become part of the statement.
  select
    string_agg(format('%I %s', a.name, format_type(a.type, null)), ', '),
    string_agg(format('%I => a.%I', a.name, a.name), ', ')
  into v_columns, v_values
  from unnest(v_names, v_function.proargtypes::oid[]) as a (name, type)
  where carry_out.arguments ? a.name;
  execute format(
    'select to_jsonb(a), %s from jsonb_to_record($1) as a (%s), admin.%I(%s) as f (result)',
    case v_function.prorettype
      when 'void'::regtype then 'null::jsonb'
      else 'to_jsonb(f.result)'
    end,
    v_columns, v_function.proname, v_values
  )
  into arguments, result
  using carry_out.arguments;
end
$$;

comment on function admin.carry_out(text, jsonb) is
  'Calls a function of schema admin that may need approval, with these arguments by their names, '
  'and returns what it returns, or null for nothing. Values of JSON become those of the declared '
  'types as jsonb_to_record does it, and are returned as these types write them: an id in capitals '
  'is that id. Private to the schema. Errors: INVALID_REQUEST (an argument '
  'that the function has not, or one that is missing), those of the function, of class 22 for a '
  'value of another type.';
