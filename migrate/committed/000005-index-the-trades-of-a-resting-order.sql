--! Previous: sha1:e8a888b6476f2725e1171738a51363f331f71f5d
--! Hash: sha1:9a00f96c62b83861d831b12eb100cb361e5bbb10
--! Message: Index the trades of a resting order

--! no-transaction
create index concurrently trades_of_a_maker_order on trading.trades (maker_order_id);
