create or replace function trading.place_whole_batch(
  requests trading.requests, atomic boolean, most_makers int
)
returns trading.order_answer[]
language plpgsql
as $$
declare
  v_at constant timestamptz := core.now();
  v_batch trading.batch := trading.match_batch(
    place_whole_batch.requests, v_at, most_makers => place_whole_batch.most_makers
  );
  v_codes constant text[] := array_remove((v_batch.results).code, null);
  v_code text; -- of all, if they are to be placed again
  v_rejections trading.order_answer[];
begin
  if v_batch.is_too_deep then
    v_code := 'AGAIN';
  elsif v_batch.is_unfinished
    and not (place_whole_batch.atomic and 'CONFLICT_RETRY' <> any (v_codes))
  then
    -- Those that failed before the call.
    perform trading.end_orders(
      array_agg(k.order_id[c.place] order by c.number), k.end_reason[c.place], v_at
    )
    from (select (v_batch.makers).*) as k
    cross join unnest((v_batch.cancelled).maker_place, (v_batch.cancelled).starved_by)
      with ordinality as c (place, starved_by, number)
    where c.starved_by = 0
      and c.place <= cardinality(k.order_id)
    group by k.end_reason[c.place];
    if found then
      v_code := 'CONFLICT_RETRY';
    else
      v_batch := trading.match_batch(
        place_whole_batch.requests, v_at, locks => 'fail', is_final => true
      );
    end if;
  end if;
  if v_code is not null then
    return array_fill(
      (v_code, null, false, null, null)::trading.order_answer,
      array[cardinality((place_whole_batch.requests).user_id)]
    );
  end if;
  if place_whole_batch.atomic then
    v_rejections := trading.atomic_rejections(v_batch);
    if v_rejections is not null then
      return v_rejections;
    end if;
  end if;
  -- A statement of its own: the answers show what it wrote.
  v_batch := trading.write_batch(v_batch);
  return trading.batch_answers(v_batch);
end
$$;

comment on function trading.place_whole_batch(trading.requests, boolean, int) is
  'Places requests of which none is left for another call. They are all AGAIN if they could meet '
  'more than most_makers. All are CONFLICT_RETRY if they meet too many failing makers: some of '
  'these were cancelled, and nothing else is written. If there were none to cancel, since only '
  'their own fills left them so, they end where they have come. atomic: one rejected request '
  'rejects all, even if others would have to be placed again. Locks as trading.match_batch does.';
