create or replace function leaderboard.share(part bigint, whole bigint)
returns float8
language sql immutable parallel safe
return case share.whole when 0 then 0 else share.part / share.whole::float8 end;

comment on function leaderboard.share(bigint, bigint) is 'part / whole; 0 if whole is 0.';
