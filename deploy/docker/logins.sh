#!/bin/sh
# The image of PostgreSQL runs this once, on a new volume: roles, logins and the database, as in
# docs/operating/install.md, and then what only a superuser can revoke.
set -eu
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d postgres \
  -v deploy="$DEPLOY_PASSWORD" -v web="$WEB_PASSWORD" -v jobs="$JOBS_PASSWORD" \
  -v staff="$STAFF_PASSWORD" <<'SQL'
create role exchange_owner nologin;
create role exchange_api nologin;
create role exchange_worker nologin;
create role exchange_operator nologin;
create role exchange_analyst nologin;
create role markets_deploy login password :'deploy' in role exchange_owner connection limit 10;
create role markets_web login password :'web' in role exchange_api connection limit 60;
create role markets_jobs login password :'jobs' in role exchange_worker connection limit 75;
create role markets_staff login password :'staff' in role exchange_operator connection limit 10;
create database pgmarkets encoding 'UTF8' template template0;
grant create on database pgmarkets to markets_deploy;
revoke connect, temporary on database pgmarkets from public;
grant connect on database pgmarkets
  to exchange_owner, exchange_api, exchange_worker, exchange_operator, exchange_analyst;
revoke connect on database postgres from public;
revoke connect on database template1 from public;
SQL
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d pgmarkets -f /lock_down.sql
