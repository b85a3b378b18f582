-- On the primary, as superuser, once. postgres_fdw is in a schema of its own, which nobody else uses.

create schema pgmarkets_archive;
create extension postgres_fdw schema pgmarkets_archive;
create server pgmarkets_archive foreign data wrapper postgres_fdw
options (host 'archive.example', dbname 'pgmarkets', fetch_size '1000');
-- For all who may read the table: those are the owner's views and functions.
create user mapping for public server pgmarkets_archive
options (user 'markets_archive', password 'change-me-8');
