create or replace function trading.stop_at_bound(
  cancelled_count int,
  cancelled_before int,
  starved_count int,
  is_preview boolean,
  is_final boolean
)
returns text
language sql immutable parallel safe
return case
  when starved_count = trading.most_cancelled() then 'ends'
  when is_preview then null
  when cancelled_count - cancelled_before - starved_count = trading.most_cancelled()
    or cancelled_before > 0
      and cancelled_count >= trading.most_cancelled() * case when is_final then 3 else 1 end
    then case when is_final then 'ends' else 'comes_again' end
end;

comment on function trading.stop_at_bound(int, int, int, boolean, boolean) is
  'Whether a request stops at a maker that must be cancelled, null if it goes on: it ends there '
  '(ends) when its own fills have starved so many makers, and is to be placed again (comes_again) '
  'when it has met so many others, or when all requests of the call together have cancelled so '
  'many (trading.most_cancelled). cancelled_count is that of the call, cancelled_before of it when '
  'the request began, starved_count of the request, own orders included. A preview is never '
  'placed again. is_final: a request that would be placed again ends, too, and all together may '
  'cancel three times as many.';
