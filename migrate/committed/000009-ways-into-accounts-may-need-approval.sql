--! Previous: sha1:fb9ea08d359a85ca66ea6e474bcbf589eb82567b
--! Hash: sha1:d780364736aa3888c50bb44a5c23f7da46fa9427
--! Message: Ways into accounts may need approval

-- Write the next migration here, or name changed files: --!include path
set local lock_timeout = '500ms';
set local role exchange_owner;
alter table admin.commands add column returns_secret boolean not null default false;

update admin.commands as c
set approval = 'by rule'
where c.command in (
  'create_api_key', 'create_session', 'rotate_api_key', 'set_loss_limits', 'sign_in_link'
);

update admin.commands as c
set returns_secret = true
where c.command in ('create_api_key', 'create_session', 'rotate_api_key', 'sign_in_link');
reset role;
