--! Previous: sha1:fb7fe40699a163ba5f6a0f11afced0c8aa4ebed0
--! Hash: sha1:f59b0834d4f4d4d121248d87ad8b50e3e7f81409
--! Message: Let orders be filled or killed

--! no-transaction
-- A new value can be used once its transaction has committed.
alter type trading.time_in_force add value if not exists 'fok' after 'ioc';
