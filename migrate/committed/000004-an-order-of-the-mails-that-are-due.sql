--! Previous: sha1:9544e417a2c6fd3741c4ef5fed731467b14a61f6
--! Hash: sha1:42cd0f165abd25aad3f00562981ed4e41cc98f49
--! Message: An order of the mails that are due

--! no-transaction
create index concurrently mails_in_order on identity.mails (
  (
    case
      when kind in ('password_reset', 'recovery', 'staff_invitation') then 'links'
      when kind in ('confirm_email', 'invitation') then 'sign_ups'
      else 'notices'
    end
  ),
  (attempts > 0), due_at, id
) where due_at is not null;
