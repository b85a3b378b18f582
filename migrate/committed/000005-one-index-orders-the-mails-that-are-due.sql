--! Previous: sha1:42cd0f165abd25aad3f00562981ed4e41cc98f49
--! Hash: sha1:fee617f4b84f5d3af451595052f51f1b7f95577e
--! Message: One index orders the mails that are due

--! no-transaction
drop index concurrently identity.mails_with_links_that_are_due;
