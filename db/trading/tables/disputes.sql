create table trading.disputes (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  resolution_id bigint not null references trading.resolutions (id),
  user_id bigint not null references identity.users (id),
  text text not null,
  created_at timestamptz not null,
  answer text,
  answered_at timestamptz,
  constraint disputes_public_id_is_unique unique (public_id),
  constraint disputes_are_made_once unique (resolution_id, user_id),
  constraint disputes_text_is_not_blank check (not core.is_blank(text) and length(text) <= 2000),
  constraint disputes_answer_is_not_blank
    check (not core.is_blank(answer) and length(answer) <= 2000),
  constraint disputes_are_answered_at_a_time
    check ((answer is null) = (answered_at is null))
);

create index disputes_of_a_user on trading.disputes (user_id, id);
create index disputes_that_are_open on trading.disputes (id) where answered_at is null;

comment on table trading.disputes is
  'What users who held shares say against a resolution, once a user and resolution, and what staff '
  'answer. An erasure replaces text and answer.';
comment on column trading.disputes.resolution_id is
  'The resolution or correction that held when the dispute was made.';
comment on column trading.disputes.answer is
  'What the user reads; null: not answered. The audit log has who answered.';
