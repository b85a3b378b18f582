create or replace function ledger.compare_head(block bigint, hash text)
returns table (result text, missing_from bigint, missing_through bigint)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    case
      when b.number is null then 'missing'
      when encode(b.hash, 'hex') = lower(compare_head.hash) then 'in the chain'
      else 'another hash'
    end,
    case when b.number is null then l.number + 1 end,
    case when b.number is null then compare_head.block end
  from (select coalesce(max(n.number), 0) as number from ledger.blocks as n) as l
  left join ledger.blocks as b on b.number = compare_head.block
$$;

comment on function ledger.compare_head(bigint, text) is
  'Whether a head that somebody has kept is still in the chain: the number of a block and its hash '
  'in hexadecimal digits. The result is: in the chain; another hash, if history was rewritten; or '
  'missing, with the first and last block that are not there any more, as after a restore to an '
  'earlier moment. Once as many blocks were sealed after a restore, it is another hash too.';
