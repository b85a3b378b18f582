create table core.settings (
  singleton boolean primary key default true,
  trading_paused boolean not null default false,
  trading_pause_reason text,
  trading_paused_at timestamptz,
  constraint settings_is_one_row check (singleton),
  constraint settings_say_since_when_trading_is_paused
    check (trading_paused = (trading_paused_at is not null))
);

comment on table core.settings is 'Settings of the whole site: one row.';
comment on column core.settings.trading_paused is
  'The site-wide pause: orders, amendments and releases are rejected, cancels work.';
comment on column core.settings.trading_pause_reason is
  'The reason that the last call gave, whether it began or ended the pause.';
comment on column core.settings.trading_paused_at is
  'Since when trading is paused; null: it is not paused.';

insert into core.settings default values;
