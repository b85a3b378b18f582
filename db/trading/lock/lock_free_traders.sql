create or replace function trading.lock_free_traders(user_ids bigint[])
returns bigint[]
language plpgsql volatile
as $$
declare
  v_locked bigint[];
begin
  perform core.check_session();
  v_locked := array(
    select t.user_id
    from trading.traders as t
    where t.user_id = any (lock_free_traders.user_ids)
    for no key update skip locked
  );
  if cardinality(v_locked) = cardinality(lock_free_traders.user_ids) then
    return '{}';
  end if;
  return array(
    select unnest(lock_free_traders.user_ids)
    except
    select unnest(v_locked)
  );
end
$$;

comment on function trading.lock_free_traders(bigint[]) is
  'Locks those of the users that no other transaction has locked, until this one ends; returns the '
  'others. It waits for nobody. Errors: UNFIT_SESSION.';
