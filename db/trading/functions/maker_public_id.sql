create or replace function trading.maker_public_id(
  batch trading.matched_batch, written trading.written_batch, maker int
)
returns uuid
language sql immutable
return case
  when maker <= cardinality((batch).makers)
    then ((batch).makers[maker]).order_public_id
  else (written).order_public_ids[
    ((batch).result).rested[maker - cardinality((batch).makers)]
  ]
end;

comment on function trading.maker_public_id(trading.matched_batch, trading.written_batch, int) is
  'The public id of a maker of a batch, of the book or of the batch itself.';
