create or replace function trading.lock_free_traders(user_ids bigint[])
returns bigint[]
language plpgsql volatile
as $$
begin
  perform core.check_session();
  return array(
    select unnest(lock_free_traders.user_ids)
    except
    select l.user_id
    from (
      select t.user_id
      from trading.traders as t
      where t.user_id = any (lock_free_traders.user_ids)
      for no key update skip locked
    ) as l
  );
end
$$;

comment on function trading.lock_free_traders(bigint[]) is
  'Locks those of the users that no other transaction has locked, until this one ends; returns the '
  'others. It waits for nobody. Errors: UNFIT_SESSION.';
