create schema installer authorization exchange_owner;
comment on schema installer is
  'What npm run migrate has put into the database: which functions, and how they were then. '
  'Private, but servers and workers read installer.installations.';
