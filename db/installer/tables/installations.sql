create table installer.installations (
  id bigint generated always as identity primary key,
  version text not null,
  hash text not null,
  server_version int not null,
  installed_at timestamptz not null default clock_timestamp()
);

comment on table installer.installations is
  'Each time that functions and views were put in place, in their order. Every call of a server or '
  'a worker holds a lock on this table to its end. The installer takes it alone before it commits, '
  'so a call runs with the functions of before or with the new ones.';
comment on column installer.installations.version is
  'The version of pgmarkets, as in package.json.';
comment on column installer.installations.hash is
  'Of the text that was put in place. A server is ready if its own hash is in the table.';
comment on column installer.installations.server_version is
  'The major version of PostgreSQL. Definitions read differently in another one.';
