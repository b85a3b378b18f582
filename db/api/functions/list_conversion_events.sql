create or replace function api.list_conversion_events(user_id uuid, entry_ids bigint[])
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
declare
  v_user_id constant bigint := (
    select u.id from identity.users as u where u.public_id = list_conversion_events.user_id
  );
begin
  return (
    select json_build_object(
      'data', coalesce(
        json_agg(
          json_build_object('id', e.account_version, 'eventId', v.public_id, 'title', v.title)
          order by e.account_version desc
        ),
        '[]'
      )
    )
    from ledger.posted_entries as e
    join ledger.posted_journals as j on j.id = e.journal_id
    cross join lateral (
      select s.market_id
      from trading.set_conversions as s
      where s.user_id = v_user_id
        and s.created_at = j.created_at
        and s.journal_id = j.id
      limit 1
    ) as c
    join catalog.markets as m on m.id = c.market_id
    join catalog.events as v on v.id = m.event_id
    where e.account_id = ledger.user_account_id(v_user_id)
      and e.account_version = any (list_conversion_events.entry_ids)
      and j.kind in ('convert', 'redeem')
  );
end
$$;

comment on function api.list_conversion_events(uuid, bigint[]) is
  'The events in which shares were converted or redeemed, for entries of the user''s statement '
  '(api.get_statement) by their ids; other entries are left out.';
