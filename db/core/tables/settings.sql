create table core.settings (
  singleton boolean primary key default true,
  trading_paused boolean not null default false,
  trading_pause_reason text,
  trading_paused_at timestamptz,
  dispute_window_hours int not null default 72,
  minimum_age int not null default 0,
  constraint settings_is_one_row check (singleton),
  constraint settings_say_since_when_trading_is_paused
    check (trading_paused = (trading_paused_at is not null)),
  constraint settings_disputes_are_open_for_at_most_a_year
    check (dispute_window_hours between 0 and 8760),
  constraint settings_minimum_age_is_below_100 check (minimum_age between 0 and 99)
);

comment on table core.settings is 'Settings of the whole site: one row.';
comment on column core.settings.trading_paused is
  'The site-wide pause: orders, amendments and releases are rejected, cancels work.';
comment on column core.settings.trading_pause_reason is
  'The reason that the last call gave, whether it began or ended the pause.';
comment on column core.settings.trading_paused_at is
  'Since when trading is paused; null: it is not paused.';
comment on column core.settings.dispute_window_hours is
  'How long after a resolution or a correction its traders may dispute it; 0: not at all.';
comment on column core.settings.minimum_age is
  'The age in years that users confirm before they sign up or trade; 0: none.';

insert into core.settings default values;
