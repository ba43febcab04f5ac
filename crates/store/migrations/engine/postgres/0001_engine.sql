-- Who works. One row per incarnation; its lease is the right to write operations.
CREATE TABLE replicas (
    id          uuid        NOT NULL PRIMARY KEY,
    name        text        NOT NULL,
    incarnation bigint      NOT NULL,
    joined_at   timestamptz NOT NULL,
    lease_until timestamptz NOT NULL,
    UNIQUE (name, incarnation)
);

-- What is worked on: narrow, written with every step.
--   due_at IS NULL      it waits behind another operation of its instance, or is final
--   due_at IS NOT NULL  it is admitted: the one operation of its instance that runs
--   held                its owner works on it right now
CREATE TABLE operations (
    id            uuid        NOT NULL PRIMARY KEY,
    root          uuid        NOT NULL,
    instance      text        NOT NULL,
    kind          text        NOT NULL,
    data_version  integer     NOT NULL,
    lane          text        COLLATE "C" NOT NULL,
    state         text        NOT NULL
        CHECK (state IN ('pending', 'in progress', 'succeeded', 'failed', 'canceled')),
    stage         text,
    step          text,
    closed        text        NOT NULL DEFAULT '',
    incomplete    text        NOT NULL DEFAULT '',
    clocks        text,
    note          text,
    failure       text,
    owner         uuid,
    epoch         bigint      NOT NULL DEFAULT 0,
    serial        bigint      NOT NULL DEFAULT 0,
    runs          bigint      NOT NULL DEFAULT 0,
    journal       bigint      NOT NULL DEFAULT 0,
    held          boolean     NOT NULL DEFAULT false,
    due_at        timestamptz,
    awaits        text,
    cancel_state  text        CHECK (cancel_state IN ('failed', 'canceled')),
    cancel_reason text,
    digest        bytea,
    created_at    timestamptz NOT NULL,
    started_at    timestamptz,
    updated_at    timestamptz NOT NULL,
    ended_at      timestamptz,
    trimmed       boolean     NOT NULL DEFAULT false,
    CHECK ((ended_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'canceled'))),
    CHECK (ended_at IS NULL OR due_at IS NULL),
    CHECK (NOT held OR (due_at IS NOT NULL AND owner IS NOT NULL))
-- Room on every page: a step that follows a step changes no indexed column and stays on its page.
) WITH (fillfactor = 70);

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
    operation_id uuid  NOT NULL PRIMARY KEY REFERENCES operations (id) ON DELETE CASCADE,
    input        bytea NOT NULL
);

-- What the steps have learnt; sealed, written only when it changed.
CREATE TABLE operation_data (
    operation_id uuid  NOT NULL PRIMARY KEY REFERENCES operations (id) ON DELETE CASCADE,
    data         bytea NOT NULL
) WITH (fillfactor = 70);

-- The journal. No foreign key: it would lock the hot row with every entry.
CREATE TABLE runs (
    operation_id uuid        NOT NULL,
    seq          bigint      NOT NULL,
    event        text        NOT NULL
        CHECK (event IN ('accepted', 'admitted', 'taken', 'run', 'cancel_requested')),
    stage        text,
    step         text,
    run          bigint,
    times        bigint      NOT NULL DEFAULT 1,
    epoch        bigint      NOT NULL,
    replica      uuid,
    began_at     timestamptz NOT NULL,
    ended_at     timestamptz NOT NULL,
    outcome      text,
    reason       text,
    failure      text,
    next_at      timestamptz,
    state        text        NOT NULL,
    then_stage   text,
    then_step    text,
    PRIMARY KEY (operation_id, seq)
);
