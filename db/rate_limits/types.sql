create domain rate_limits.rate as int
  constraint rate_is_from_1_to_1000000 check (value between 1 and 1000000);
comment on domain rate_limits.rate is 'Requests a minute or back to back that a policy grants.';

create domain rate_limits.request_count as int
  constraint max_requests_is_from_1_to_1000000000 check (value between 1 and 1000000000);
comment on domain rate_limits.request_count is 'Requests that a window has room for.';

create domain rate_limits.window_seconds as int
  constraint window_seconds_is_from_1_to_86400 check (value between 1 and 86400);
comment on domain rate_limits.window_seconds is 'Length of a rolling window.';

create type rate_limits.tier as enum ('standard', 'elevated', 'custom');
comment on type rate_limits.tier is 'Kinds of policies for trading requests.';
