create or replace function trading.most_beyond()
returns int
language sql immutable parallel safe
return 200;

comment on function trading.most_beyond() is
  'How many makers a request may still meet once it is sure to be rejected, to find which of the '
  'reasons for it comes first; and how many of its user''s own orders it cancels at most.';
