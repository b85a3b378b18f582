create or replace function rate_limits.spend_tokens(
  counters rate_limits.counter[], granted int[], at timestamptz
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  c_token constant bigint := 60000000;
  c_slack constant interval := '10 minutes';
begin
  update rate_limits.allowances as a set
    spent = n.spent,
    at = spend_tokens.at,
    removable_at = case
      when a.removable_at between n.full_at and n.full_at + c_slack then a.removable_at
      else n.full_at + c_slack
    end
  from unnest(spend_tokens.counters, spend_tokens.granted) as c (
    bucket, subject, free, taken, width, is_due, spent, policy, granted
  )
  cross join lateral (
    select
      c.spent + c.granted * c_token as spent,
      spend_tokens.at + make_interval(
        secs => (c.spent + c.granted * c_token) / ((c.policy).requests_per_minute * 1000000.0)
      ) as full_at
  ) as n
  where a.user_id = case c.bucket when 'v1-trading' then c.subject::uuid end
    and c.granted > 0;
end
$$;

comment on function rate_limits.spend_tokens(rate_limits.counter[], int[], timestamptz) is
  'Records how many requests each of the locked token buckets allowed at this time. Rolling '
  'windows: rate_limits.record_grants.';
