-- Who may do what. Functions are executable by nobody unless granted here.
grant usage on schema api to exchange_api;
grant execute on all functions in schema api to exchange_api;

grant usage on schema jobs to exchange_worker;
grant execute on all functions in schema jobs to exchange_worker;

grant usage on schema admin to exchange_operator;
grant execute on all functions in schema admin to exchange_operator;
revoke execute on function admin.audit(text, jsonb) from exchange_operator;

grant usage on schema ledger to exchange_operator;
grant execute on function ledger.verify() to exchange_operator;
grant usage on schema leaderboard to exchange_operator;
grant execute on function leaderboard.verify() to exchange_operator;

grant usage on schema analytics to exchange_analyst;
grant select on all tables in schema analytics to exchange_analyst;
grant execute on all functions in schema analytics to exchange_analyst;
