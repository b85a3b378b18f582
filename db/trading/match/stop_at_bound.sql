create or replace function trading.stop_at_bound(
  cancelled_count int,
  cancelled_before int,
  starved_count int,
  most int,
  bounds_dead boolean,
  is_final boolean
)
returns text
language sql immutable parallel safe
return case
  when starved_count = most then 'ends'
  when not bounds_dead then null
  when cancelled_count - cancelled_before - starved_count = most
    or cancelled_before > 0 and cancelled_count >= case when is_final then 3 * most else most end
    then case when is_final then 'ends' else 'comes_again' end
end;

comment on function trading.stop_at_bound(int, int, int, int, boolean, boolean) is
  'Whether a request stops at a maker that must be cancelled, null if it goes on: it ends there '
  '(ends) when its own fills have starved so many makers, and is to be placed again (comes_again) '
  'when it has met so many others, or when all requests of the call together have cancelled so '
  'many. cancelled_count is that of the call, cancelled_before of it when the request began, '
  'starved_count of the request, own orders included. bounds_dead: false for a preview. is_final: '
  'a request that would be placed again ends, too, and all together may cancel three times as '
  'many.';
