create or replace function admin.export_user(user_id uuid)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  -- All arrays together must stay below 256 MB, which is the most that a jsonb can hold.
  c_most_rows constant int := 50000;
  v_user_id constant bigint := identity.user_id(export_user.user_id);
  v_user jsonb;
  v_left_out text[];
  v_export jsonb;
begin
  perform admin.audit('export_user', jsonb_build_object('user_id', export_user.user_id));
  select to_jsonb(u) - 'search_text' into strict v_user
  from admin.users as u
  where u.user_key = v_user_id;

  v_left_out := array(
    select x.field
    from (
      values
        ('orders', exists (
          select from admin.orders as o
          where o.user_key = v_user_id
          offset c_most_rows
        )),
        ('trades', exists (
          select from admin.trades as t
          where t.taker_user_key = v_user_id or t.maker_user_key = v_user_id
          offset c_most_rows
        )),
        ('set_conversions', exists (
          select from admin.set_conversions as s
          where s.user_key = v_user_id
          offset c_most_rows
        )),
        ('settlements', exists (
          select from admin.settlements as s
          where s.user_key = v_user_id
          offset c_most_rows
        )),
        ('cash_movements', exists (
          select from admin.cash_movements as c
          where c.user_key = v_user_id
          offset c_most_rows
        )),
        ('journal_entries', exists (
          select from admin.journal_entries as j
          where j.user_key = v_user_id
          offset c_most_rows
        ))
    ) as x (field, has_too_many)
    where x.has_too_many
  );
  select jsonb_object_agg(x.field, x.value) into v_export
  from (
    values
      ('unconfirmed_emails', (
        select jsonb_agg(to_jsonb(e)) from admin.unconfirmed_emails as e
        where e.user_key = v_user_id
      )),
      ('sessions', (
        select jsonb_agg(to_jsonb(s) - 'cookie_hash' order by s.id) from identity.sessions as s
        where s.user_id = v_user_id
      )),
      ('passkeys', (
        select jsonb_agg(to_jsonb(p) - array['credential_id', 'public_key'] order by p.id)
        from identity.passkeys as p
        where p.user_id = v_user_id
      )),
      ('passwords', (
        select jsonb_agg(to_jsonb(p) - 'password_hash') from identity.passwords as p
        where p.user_id = v_user_id
      )),
      ('links', (
        select jsonb_agg(to_jsonb(l) - 'token_hash' order by l.created_at)
        from identity.links as l
        where l.user_id = v_user_id
          or lower(l.email collate "C") = lower((v_user ->> 'email') collate "C")
      )),
      ('api_keys', (
        select jsonb_agg(to_jsonb(k) order by k.created_at) from admin.api_keys as k
        where k.user_key = v_user_id
      )),
      ('mails', (
        select jsonb_agg(
          to_jsonb(m) || jsonb_build_object('details', d.details) order by m.mail_key
        )
        from admin.mails as m
        join identity.mails as d on d.id = m.mail_key
        where m.user_key = v_user_id
          or m.user_key is null
            and lower(m.address collate "C") = lower((v_user ->> 'email') collate "C")
      )),
      ('notes', (
        select jsonb_agg(to_jsonb(n) order by n.note_key) from admin.notes as n
        where n.user_id = export_user.user_id
      )),
      ('audit_entries', (
        select jsonb_agg(to_jsonb(a) order by a.audit_key) from admin.audit_entries as a
        where a.user_id = export_user.user_id::text
          or a.action = 'invite_user'
            and lower((a.arguments ->> 'email') collate "C")
              = lower((v_user ->> 'email') collate "C")
      )),
      ('proposals', (
        select jsonb_agg(to_jsonb(p) order by p.proposal_key) from admin.proposals as p
        where coalesce(p.arguments ->> 'user_id', admin.only_user_of(p.basis))
          = export_user.user_id::text
      )),
      ('limit_changes', (
        select jsonb_agg(to_jsonb(c) order by c.id) from risk.limit_changes as c
        where c.user_id = v_user_id
      )),
      ('dead_man_switches', (
        select jsonb_agg(to_jsonb(d)) from trading.dead_man_switches as d
        where d.user_id = v_user_id
      )),
      ('order_stops', (
        select jsonb_agg(to_jsonb(s)) from trading.order_stops as s
        where s.user_id = v_user_id
      )),
      ('orders', (
        select jsonb_agg(to_jsonb(o) order by o.order_key) from admin.orders as o
        where o.user_key = v_user_id
          and 'orders' <> all (v_left_out)
      )),
      ('trades', (
        select jsonb_agg(
          to_jsonb(t) - array(
            select format(
              c.name, case t.taker_user_key when v_user_id then 'maker' else 'taker' end
            )
            from unnest(
              array['%s_order_key', '%s_order_id', '%s_user_key', '%s_user_id', '%s_realised_cents']
            ) as c (name)
          )
          order by t.trade_key
        )
        from admin.trades as t
        where (t.taker_user_key = v_user_id or t.maker_user_key = v_user_id)
          and 'trades' <> all (v_left_out)
      )),
      ('positions', (
        select jsonb_agg(to_jsonb(p)) from admin.positions as p where p.user_key = v_user_id
      )),
      ('set_conversions', (
        select jsonb_agg(to_jsonb(s) order by s.conversion_key) from admin.set_conversions as s
        where s.user_key = v_user_id
          and 'set_conversions' <> all (v_left_out)
      )),
      ('settlements', (
        select jsonb_agg(to_jsonb(s) order by s.resolution_key) from admin.settlements as s
        where s.user_key = v_user_id
          and 'settlements' <> all (v_left_out)
      )),
      ('disputes', (
        select jsonb_agg(to_jsonb(d) order by d.dispute_key) from admin.disputes as d
        where d.user_key = v_user_id
      )),
      ('voided_positions', (
        select jsonb_agg(to_jsonb(v) order by v.void_key) from admin.voided_positions as v
        where v.user_key = v_user_id
      )),
      ('exit_values', (
        select jsonb_agg(to_jsonb(e) order by e.day) from trading.exit_values as e
        where e.user_id = v_user_id
      )),
      ('standings', (
        select jsonb_agg(to_jsonb(s)) from leaderboard.standings as s where s.user_id = v_user_id
      )),
      ('wins', (
        select jsonb_agg(to_jsonb(w)) from leaderboard.wins as w where w.user_id = v_user_id
      )),
      ('cash_movements', (
        select jsonb_agg(to_jsonb(c) order by c.journal_key) from admin.cash_movements as c
        where c.user_key = v_user_id
          and 'cash_movements' <> all (v_left_out)
      )),
      ('journal_entries', (
        select jsonb_agg(to_jsonb(j) order by j.account_version) from admin.journal_entries as j
        where j.user_key = v_user_id
          and 'journal_entries' <> all (v_left_out)
      )),
      ('receivables', (
        select jsonb_agg(to_jsonb(r)) from admin.receivables as r where r.user_key = v_user_id
      ))
  ) as x (field, value);
  return (
    select jsonb_build_object(
      'exported_at', core.now(), 'left_out', to_jsonb(v_left_out), 'user', v_user
    ) || jsonb_object_agg(e.field, case
      when e.value = 'null' and e.field <> all (v_left_out) then '[]' else e.value end)
    from jsonb_each(v_export) as e (field, value)
  );
end
$$;

comment on function admin.export_user(uuid) is
  'All that the exchange holds about a user, without secrets, as one object: exported_at; user, '
  'the row of admin.users; and arrays of rows, each with the name of its view in schema admin or '
  'its table. An array that would have more than 50,000 rows is null: left_out names these views. '
  'Of the other trader of a trade there is nothing in it. Errors: NOT_FOUND.';
