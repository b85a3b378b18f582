--! Previous: sha1:486cfef6148e1baab54b4f65b125b2f295c81cc3
--! Hash: sha1:b3c4c36a3dab6a619e0f4aac42b349d77ba322e1
--! Message: Index the trades of a taker

--! no-transaction
create index concurrently trades_of_a_taker on trading.trades (taker_user_id, id);
