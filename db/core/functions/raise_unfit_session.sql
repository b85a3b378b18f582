create or replace function core.raise_unfit_session()
returns bigint
language plpgsql stable
as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform core.raise_error('UNFIT_SESSION', format(
      'The transaction isolation is %s; the exchange needs read committed',
      current_setting('transaction_isolation')
    ));
  end if;
  perform core.raise_error('UNFIT_SESSION', format(
    'The session_replication_role is %s; the exchange needs origin',
    current_setting('session_replication_role')
  ));
  return 0;
end
$$;

comment on function core.raise_unfit_session() is
  'Raises UNFIT_SESSION and says which setting of the session is at fault.';
