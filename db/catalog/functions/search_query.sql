create or replace function catalog.search_query(query text)
returns tsquery
language plpgsql immutable parallel safe
as $$
declare
  c_most_words constant int := 10;
  v_word text;
  v_query tsquery;
  v_all tsquery;
begin
  -- The parser of PostgreSQL says what a word is, so nothing in the text is an operator.
  for v_word in
    select w.lexeme
    from unnest(to_tsvector('simple', search_query.query)) as w
    order by w.positions[1]
    limit c_most_words
  loop
    v_query := (
      '''' || replace(replace(v_word, chr(92), chr(92) || chr(92)), '''', '''''') || ''':*'
    )::tsquery || plainto_tsquery('english', v_word);
    v_all := case when v_all is null then v_query else v_all && v_query end;
  end loop;
  return coalesce(v_all, ''::tsquery);
end
$$;

comment on function catalog.search_query(text) is
  'What a search asks of catalog.markets.words: every one of up to 10 words, as the beginning of a '
  'word or in another form of it. A text without words finds nothing.';
