create table core.settings (
  singleton boolean primary key default true,
  trading_paused boolean not null default false,
  trading_pause_reason text,
  constraint settings_is_one_row check (singleton)
);

comment on table core.settings is 'What holds for the whole site: one row.';
comment on column core.settings.trading_paused is
  'The site-wide pause: orders, amendments and releases are refused, cancels work.';

insert into core.settings default values;
