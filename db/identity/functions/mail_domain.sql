create or replace function identity.mail_domain(address text)
returns text
language sql immutable parallel safe
return lower(ltrim(
  case
    when length(split_part(split_part(mail_domain.address, '@', 2), '.', -2)) <= 3
      then split_part(split_part(mail_domain.address, '@', 2), '.', -3) || '.'
    else ''
  end
  || split_part(split_part(mail_domain.address, '@', 2), '.', -2) || '.'
  || split_part(split_part(mail_domain.address, '@', 2), '.', -1),
  '.'
) collate "C");

comment on function identity.mail_domain(text) is
  'The domain of an e-mail address without its subdomains, as a guess of what has one owner: the '
  'last two labels, or three where the middle one has three letters at most, as in example.co.uk. '
  'In small letters.';
