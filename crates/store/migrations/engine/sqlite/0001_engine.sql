-- Who works. One row per incarnation; its lease is the right to write operations.
CREATE TABLE replicas (
    id          blob        NOT NULL PRIMARY KEY,
    name        text        NOT NULL,
    incarnation integer     NOT NULL,
    joined_at   integer     NOT NULL,
    lease_until integer     NOT NULL,
    UNIQUE (name, incarnation)
) STRICT;

-- What is worked on: narrow, written with every step.
--   due_at IS NULL      it waits behind another operation of its instance, or is final
--   due_at IS NOT NULL  it is admitted: the one operation of its instance that runs
--   held                its owner works on it right now
CREATE TABLE operations (
    id            blob        NOT NULL PRIMARY KEY,
    root          blob        NOT NULL,
    instance      text        NOT NULL,
    kind          text        NOT NULL,
    data_version  integer     NOT NULL,
    lane          text        NOT NULL,
    state         text        NOT NULL
        CHECK (state IN ('pending', 'in progress', 'succeeded', 'failed', 'canceled')),
    stage         text,
    step          text,
    closed        text        NOT NULL DEFAULT '',
    incomplete    text        NOT NULL DEFAULT '',
    clocks        text,
    note          text,
    failure       text,
    owner         blob,
    epoch         integer     NOT NULL DEFAULT 0,
    serial        integer     NOT NULL DEFAULT 0,
    runs          integer     NOT NULL DEFAULT 0,
    journal       integer     NOT NULL DEFAULT 0,
    held          integer     NOT NULL DEFAULT 0,
    due_at        integer,
    awaits        text,
    cancel_state  text        CHECK (cancel_state IN ('failed', 'canceled')),
    cancel_reason text,
    digest        blob,
    created_at    integer     NOT NULL,
    started_at    integer,
    updated_at    integer     NOT NULL,
    ended_at      integer,
    trimmed       integer     NOT NULL DEFAULT 0,
    CHECK ((ended_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'canceled'))),
    CHECK (ended_at IS NULL OR due_at IS NULL),
    CHECK (NOT held OR (due_at IS NOT NULL AND owner IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX operations_one_running ON operations (instance) WHERE due_at IS NOT NULL;
CREATE INDEX operations_claimable_by_lane ON operations (lane, due_at)
    WHERE due_at IS NOT NULL AND NOT held;
CREATE INDEX operations_claimable ON operations (due_at) WHERE due_at IS NOT NULL AND NOT held;
CREATE INDEX operations_held ON operations (owner) WHERE held;
CREATE INDEX operations_awaiting ON operations (awaits) WHERE awaits IS NOT NULL;
CREATE INDEX operations_waiting ON operations (instance, created_at, id)
    WHERE due_at IS NULL AND ended_at IS NULL;
CREATE INDEX operations_of_instance ON operations (instance, created_at, id);
CREATE INDEX operations_by_age ON operations (created_at, id);
CREATE INDEX operations_to_trim ON operations (ended_at) WHERE ended_at IS NOT NULL AND NOT trimmed;

-- What was asked for; sealed, never changes.
CREATE TABLE operation_inputs (
    operation_id blob  NOT NULL PRIMARY KEY REFERENCES operations (id) ON DELETE CASCADE,
    input        blob  NOT NULL
) STRICT;

-- What the steps have learnt; sealed, written only when it changed.
CREATE TABLE operation_data (
    operation_id blob  NOT NULL PRIMARY KEY REFERENCES operations (id) ON DELETE CASCADE,
    data         blob  NOT NULL
) STRICT;

-- The journal. Its rows outlive no operation, but are trimmed by age.
CREATE TABLE runs (
    operation_id blob        NOT NULL,
    seq          integer     NOT NULL,
    event        text        NOT NULL
        CHECK (event IN ('accepted', 'admitted', 'taken', 'run', 'cancel_requested')),
    stage        text,
    step         text,
    run          integer,
    times        integer     NOT NULL DEFAULT 1,
    epoch        integer     NOT NULL,
    replica      blob,
    began_at     integer     NOT NULL,
    ended_at     integer     NOT NULL,
    outcome      text,
    reason       text,
    failure      text,
    next_at      integer,
    state        text        NOT NULL,
    then_stage   text,
    then_step    text,
    PRIMARY KEY (operation_id, seq)
) STRICT;
