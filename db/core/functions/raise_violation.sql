create or replace function core.raise_violation(constraint_name text, column_name text)
returns void
language plpgsql stable
as $$
begin
  perform core.raise_error('INVALID_REQUEST', case raise_violation.constraint_name
    when '' then 'A value is required for ' || replace(raise_violation.column_name, '_', ' ')
    when 'categories_slug_is_url_safe' then
      'The slug must have from 1 to 60 characters: lower-case letters, digits and single hyphens '
      'between them; "all" is reserved'
    when 'categories_name_is_not_blank' then
      'The name must not be blank or longer than 100 characters'
    when 'events_title_is_not_blank' then
      'The title must not be blank or longer than 300 characters'
    when 'events_end_after_their_start' then 'The event must end after it starts'
    when 'events_start_and_end_at_a_moment_or_at_none' then
      'The start and the end of the event must not be infinite; null leaves them open'
    when 'events_live_delay_is_sane' then 'The live delay must be from 0 to 60000 milliseconds'
    when 'markets_title_is_not_blank' then
      'The title must not be blank or longer than 300 characters'
    when 'markets_open_by_themselves_while_paused' then
      'Only a paused market has an open time'
    when 'markets_open_before_they_close' then 'The open time must be before the close time'
    when 'markets_rules_are_not_blank' then
      'The rules must not be blank or longer than 4000 characters; null removes them'
    when 'markets_source_is_an_address_of_the_web' then
      'The address of the source must begin with http:// or https:// and have at most 2000 '
      'characters, without spaces, quotes and angle brackets; null removes it'
    when 'markets_thumbnail_is_an_address_of_the_web' then
      'The address of the picture must begin with http:// or https:// and have at most 2000 '
      'characters, without spaces, quotes and angle brackets'
    when 'events_thumbnail_is_an_address_of_the_web' then
      'The address of the picture must begin with http:// or https:// and have at most 2000 '
      'characters, without spaces, quotes and angle brackets'
    when 'settings_disputes_are_open_for_at_most_a_year' then
      'The window must be from 0 to 8760 hours long'
    when 'settings_minimum_age_is_below_100' then
      'The minimum age must be from 0 to 99 years'
    when 'disputes_answer_is_not_blank' then
      'The answer must not be blank or longer than 2000 characters'
    when 'disputes_are_answered_at_a_time' then
      'The answer must not be blank or longer than 2000 characters'
    when 'markets_open_at_a_moment' then
      'The open time must be a moment; null means that there is none'
    when 'markets_have_an_outcome_name_and_place_in_an_event' then
      'Only a market of an event has an outcome name and a place in it'
    when 'markets_outcome_name_is_not_blank' then
      'The outcome name must not be blank or longer than 100 characters'
    when 'markets_have_a_place_from_1_to_1000000' then 'The place must be from 1 to 1000000'
    when 'users_email_looks_like_one' then
      'The e-mail address must look like name@domain and have at most 320 characters'
    when 'email_claims_look_like_an_email' then
      'The e-mail address must look like name@domain and have at most 320 characters'
    when 'users_display_name_is_not_blank' then
      'The display name must not be blank or longer than 100 characters'
    when 'users_handle_is_a_word' then
      'The handle must have from 1 to 40 characters: letters, digits, dots, hyphens and underscores'
    when 'users_reality_check_comes_after_one_of_four_times' then
      'The reality check must come after 15, 30, 60 or 120 minutes, or null for never'
    when 'email_claims_handle_is_a_word' then
      'The handle must have from 1 to 40 characters: letters, digits, dots, hyphens and underscores'
    when 'settings_sign_up_policy_is_open_invitation_or_closed' then
      'The policy must be open, invitation or closed'
    when 'settings_play_money_is_a_bonus' then
      'The play money must be at most 10,000,000,000,000.00 EUR'
    when 'api_keys_name_is_not_blank' then
      'The name must not be blank or longer than 100 characters'
    when 'api_keys_scopes_are_read_trade_or_both' then
      'The scopes must be read, trade or both, each once'
    when 'api_keys_expire_at_a_moment_after_they_are_made' then
      'The key must expire at a moment in the future; null is never'
    when 'api_keys_allow_from_1_to_20_addresses' then
      'The allowed addresses must be a list of 1 to 20 addresses or networks; null allows all'
    when 'api_keys_allow_ipv4_addresses_as_such' then
      'Write an IPv4 address or network as such, and not as IPv6'
    when 'passkeys_name_is_not_blank' then
      'The name must not be blank or longer than 100 characters'
    when 'staff_keys_name_is_not_blank' then
      'The name must not be blank or longer than 100 characters'
    when 'staff_keys_role_is_analyst_or_operator' then 'The role must be analyst or operator'
    when 'staff_email_looks_like_one' then
      'The e-mail address must look like name@domain and have at most 320 characters'
    when 'staff_name_is_not_blank' then
      'The name must not be blank or longer than 100 characters'
    when 'staff_roles_are_known' then
      'The roles must be one or more of markets, cash, users, incidents, audit and staff'
    when 'rules_role_is_one_of_staff' then
      'The role must be one of markets, cash, users, incidents, audit and staff'
    when 'caps_of_a_call_are_not_below_zero' then 'The cap must not be below 0; null means none'
    when 'caps_of_a_day_are_not_below_zero' then 'The cap must not be below 0; null means none'
    when 'rules_begin_above_zero' then 'The amount from which a call needs approval must be above 0'
    when 'proposed_calls_have_a_reason' then
      'A reason of at most 1000 characters is required'
    when 'staff_passkeys_name_is_not_blank' then
      'The name must not be blank or longer than 100 characters'
    when 'rate_is_from_1_to_1000000' then
      'The requests per minute and the burst capacity must each be from 1 to 1000000'
    when 'max_requests_is_from_1_to_1000000000' then 'The maximum must be from 1 to 1000000000'
    when 'window_seconds_is_from_1_to_86400' then
      'The window must be from 1 to 86400 seconds long'
    else 'A value breaks the rule ' || raise_violation.constraint_name
  end);
end
$$;

comment on function core.raise_violation(text, text) is
  'Raises INVALID_REQUEST for a value that breaks a check constraint, or, with an empty '
  'constraint_name, for a column that must not be null. The message says what the rule is.';
