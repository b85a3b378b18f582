create table installer.objects (
  kind text not null,
  name text not null,
  hash text not null,
  constraint objects_pkey primary key (kind, name)
);

comment on table installer.objects is
  'The objects of the schema after the last installation: what installer.schema_objects() gave, '
  'with an MD5 of each definition. installer.changed_objects() compares them.';
