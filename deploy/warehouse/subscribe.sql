-- On the warehouse, as superuser: copies all tables, then follows.
create subscription pgmarkets_warehouse
connection 'postgres://markets_warehouse:change-me-7@primary.example/pgmarkets'
publication pgmarkets_history, pgmarkets_state;
