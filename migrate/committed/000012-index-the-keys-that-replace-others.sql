--! Previous: sha1:5455c51f6f0940f3cba10413d5932caedd691859
--! Hash: sha1:97419025f4ae36e6a9d02e1d0a056d7d0c7678c0
--! Message: Index the keys that replace others

--! no-transaction
create unique index concurrently api_keys_are_replaced_once on identity.api_keys (replaces);
