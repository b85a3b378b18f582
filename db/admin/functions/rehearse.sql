-- A function is compiled and its statements are planned by each connection at their first use.
-- This uses them, by the functions that callers call, whatever those are made of.
create or replace function admin.rehearse(is_live boolean)
returns void
language plpgsql
as $$
declare
  c_done constant text := 'EX999';
  v_name constant text := 'rehearsal-' || replace(core.uuid_v7()::text, '-', '');
  v_event uuid;
  v_market uuid;
  v_market_id bigint;
  v_maker uuid;
  v_taker uuid;
  v_order uuid;
begin
  perform core.check_session();
  begin
    perform admin.create_category(v_name, v_name, 0);
    if rehearse.is_live then
      v_event := admin.create_event(v_name, v_name, live => true, live_delay_ms => 0);
    end if;
    v_market := admin.create_market(v_name, v_name, event_id => v_event);
    select m.id into strict v_market_id
    from catalog.markets as m
    where m.public_id = v_market;
    v_maker := admin.create_user(v_name || '@maker.invalid', v_name, left(v_name, 38) || '-1');
    v_taker := admin.create_user(v_name || '@taker.invalid', v_name, left(v_name, 38) || '-2');
    perform admin.set_loss_limits(v_maker, null, null, null);
    perform admin.set_loss_limits(v_taker, 1000000, null, null);
    -- A deposit would hold up those of others.
    update trading.traders as t
    set balance_cents = 1000000
    where t.public_id in (v_maker, v_taker);

    for v_round in 1 .. 2 loop
      v_order := admin.rehearse_orders(v_market, v_maker, '{"side": "no", "price": 40}');
      perform admin.rehearse_orders(v_market, v_maker, '{"side": "no", "price": 41}');
      if rehearse.is_live then
        perform jobs.next_work();
        perform jobs.due_release_groups();
        perform jobs.release_group(array[v_market_id]);
      end if;
      perform api.run_command('amend', v_maker, v_order, price => 42);
      perform admin.rehearse_orders(
        v_market, v_taker, '{"side": "yes", "price": 58, "quantity": 1}'
      );
      perform admin.rehearse_orders(
        v_market, v_taker, '{"side": "yes", "price": 60, "quantity": 12}'
      );
      perform admin.rehearse_orders(
        v_market, v_taker,
        '{"side": "yes", "price": null, "quantity": 1}',
        '{"side": "yes", "budgetCents": 100, "quantity": null}',
        '{"side": "yes", "price": 60, "quantity": 1, "timeInForce": "ioc"}',
        jsonb_build_object(
          'side', 'yes', 'price', 2, 'postOnly', true, 'idempotencyKey', core.uuid_v7()
        ),
        '{"side": "yes", "price": 1, "quantity": 1, "orderType": "sell"}'
      );
      perform api.run_command('split', v_maker, market_id => v_market, quantity => 2);
      perform admin.rehearse_orders(
        v_market, v_maker, '{"side": "yes", "price": 99, "quantity": 1, "orderType": "sell"}'
      );
      perform api.run_command('merge', v_maker, market_id => v_market, quantity => 1);
      perform api.run_command('cancel', v_maker, v_order);
      if rehearse.is_live then
        perform jobs.release_orders(v_market_id);
      end if;
    end loop;
    raise exception using errcode = c_done;
  exception when sqlstate 'EX999' then
    null;
  end;
end
$$;

comment on function admin.rehearse(boolean) is
  'Trades in a market of its own and rolls all of it back, so that a new connection has compiled '
  'and planned what its first order needs; also releases, in a live market. Only numbers of '
  'sequences are used up. Called by api.warm_up and jobs.warm_up. Not for operators. Errors: '
  'UNFIT_SESSION. Locks: none that others wait for.';
