create table installer.files (
  path text primary key,
  hash text not null
);

comment on table installer.files is
  'The files of db/ that were put in place, and a hash of what was. Views, types and comments are '
  'put in place again only if their hash has changed.';
