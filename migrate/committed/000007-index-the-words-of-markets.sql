--! Previous: sha1:2c18b19f9a9a20ca58f20ac33d52fcbe37c3171e
--! Hash: sha1:2fb15d9ab76f660ae18ab36763e71d9a8c51ac76
--! Message: Index the words of markets

--! no-transaction
create index concurrently markets_by_words on catalog.markets using gin (words);
