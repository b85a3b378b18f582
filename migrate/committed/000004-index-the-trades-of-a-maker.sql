--! Previous: sha1:b3c4c36a3dab6a619e0f4aac42b349d77ba322e1
--! Hash: sha1:e8a888b6476f2725e1171738a51363f331f71f5d
--! Message: Index the trades of a maker

--! no-transaction
create index concurrently trades_of_a_maker on trading.trades (maker_user_id, id);
