-- Prints a line if pgBackRest has no backup of the last 26 hours, and nothing otherwise. As
-- postgres, on a primary or a standby: psql -XAtqf last_backup.sql
\set info `pgbackrest --stanza=pgmarkets --output=json info`
select 'The last backup of pgBackRest ended ' || coalesce(max(b.ended)::text, 'never')
from jsonb_path_query(:'info', '$[*].backup[*] ? (!(@.error == true))') as j (backup)
cross join lateral (select to_timestamp((j.backup #>> '{timestamp,stop}')::float8)) as b (ended)
having coalesce(max(b.ended) < now() - interval '26 hours', true);
