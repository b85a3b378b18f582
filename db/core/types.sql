create domain core.amount as bigint constraint amount_is_not_negative check (value >= 0);
comment on domain core.amount is 'Cents, shares or a count that cannot be below zero.';
