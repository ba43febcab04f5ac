-- One change over many runtimes. An operation of the kind orchestration drives it: the driver.
CREATE TABLE orchestrations (
    id           blob        NOT NULL PRIMARY KEY,
    kind         text        NOT NULL CHECK (kind IN ('upgradeKyma', 'upgradeCluster')),
    state        text        NOT NULL CHECK (state IN
        ('pending', 'in progress', 'canceling', 'retrying', 'canceled', 'succeeded', 'failed')),
    description  text        NOT NULL,
    parameters   text        NOT NULL, -- JSON, as the API tells it
    driver       blob        NOT NULL, -- the operation that drives it, or drove it last
    workers      integer     NOT NULL CHECK (workers > 0),
    paused       integer     NOT NULL DEFAULT 0,
    pause_reason text,
    released     integer     NOT NULL DEFAULT 0, -- resumed although canaries failed
    forgiven     integer     NOT NULL DEFAULT 0, -- failures that do not count to the budget any more
    created_at   integer     NOT NULL,
    updated_at   integer     NOT NULL
) STRICT;
CREATE INDEX orchestrations_by_age ON orchestrations (created_at, id);
CREATE INDEX orchestrations_of_driver ON orchestrations (driver);

-- The upgrade of one runtime in an orchestration. The id of its operation is given before the operation is accepted, so that it is
-- accepted once. A retry is another row, and the failed one is superseded.
CREATE TABLE orchestration_operations (
    operation_id   blob        NOT NULL PRIMARY KEY,
    orchestration  blob        NOT NULL REFERENCES orchestrations (id) ON DELETE CASCADE,
    position       integer     NOT NULL,
    wave           integer     NOT NULL, -- 0: canaries, 1: all others
    instance       text        NOT NULL,
    runtime_id     blob        NOT NULL,
    shoot_name     text        NOT NULL,
    global_account text        NOT NULL,
    subaccount     text        NOT NULL,
    plan_id        text        NOT NULL,
    plan_name      text        NOT NULL,
    window_rule    text,                 -- from when until when on which days
    window_begin   integer,              -- not before
    window_end     integer,
    state          text        NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'in progress', 'succeeded', 'failed', 'canceled')),
    description    text        NOT NULL,
    accepted       integer     NOT NULL DEFAULT 0, -- its operation is stored
    superseded     integer     NOT NULL DEFAULT 0, -- a later row tries it again
    created_at     integer     NOT NULL,
    started_at     integer,
    ended_at       integer
) STRICT;
CREATE UNIQUE INDEX orchestration_operations_one_each ON orchestration_operations (orchestration, instance) WHERE NOT superseded;
CREATE INDEX orchestration_operations_in_order ON orchestration_operations (orchestration, position);
CREATE INDEX orchestration_operations_by_state ON orchestration_operations (orchestration, state, wave, position);

-- How far a runtime is, written in the transaction that changes its operation. What a removal or a suspension has stopped has
-- not failed.
CREATE TRIGGER keep_orchestration AFTER UPDATE OF state ON operations
WHEN OLD.state <> NEW.state AND NEW.kind <> 'orchestration'
BEGIN
    UPDATE orchestration_operations
    SET state = CASE WHEN NEW.state = 'failed' AND NEW.cancel_state = 'failed' THEN 'canceled' ELSE NEW.state END,
        started_at = NEW.started_at, ended_at = NEW.ended_at
    WHERE operation_id = NEW.id;
END;

-- A driver that fails, or is canceled, ends its orchestration: nothing starts any more.
CREATE TRIGGER end_orchestration AFTER UPDATE OF state ON operations
WHEN OLD.state <> NEW.state AND NEW.kind = 'orchestration' AND NEW.state IN ('failed', 'canceled')
BEGIN
    UPDATE orchestrations
    SET state = NEW.state, paused = false, pause_reason = NULL, description = COALESCE(NEW.cancel_reason, NEW.failure ->> '$.message', NEW.note, description), updated_at = NEW.updated_at
    WHERE driver = NEW.id AND state IN ('pending', 'in progress', 'canceling', 'retrying');
    UPDATE orchestration_operations SET state = 'canceled', description = 'Operation was canceled'
    WHERE orchestration IN (SELECT id FROM orchestrations WHERE driver = NEW.id) AND state = 'pending' AND NOT accepted;
END;
