-- One change over many runtimes. An operation of the kind orchestration drives it: the driver.
CREATE TABLE orchestrations (
    id           uuid        NOT NULL PRIMARY KEY,
    kind         text        COLLATE "C" NOT NULL CHECK (kind IN ('upgradeKyma', 'upgradeCluster')),
    state        text        COLLATE "C" NOT NULL CHECK (state IN
        ('pending', 'in progress', 'canceling', 'retrying', 'canceled', 'succeeded', 'failed')),
    description  text        COLLATE "C" NOT NULL,
    parameters   text        COLLATE "C" NOT NULL, -- JSON, as the API tells it
    driver       uuid        NOT NULL,             -- the operation that drives it, or drove it last
    workers      bigint      NOT NULL CHECK (workers > 0),
    paused       boolean     NOT NULL DEFAULT false,
    pause_reason text        COLLATE "C",
    released     boolean     NOT NULL DEFAULT false, -- resumed although canaries failed
    forgiven     bigint      NOT NULL DEFAULT 0,     -- failures that do not count to the budget any more
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL
);
CREATE INDEX orchestrations_by_age ON orchestrations (created_at, id);
CREATE INDEX orchestrations_of_driver ON orchestrations (driver);

-- The upgrade of one runtime in an orchestration. The id of its operation is given before the operation is accepted, so that it is
-- accepted once. A retry is another row, and the failed one is superseded.
CREATE TABLE orchestration_operations (
    operation_id   uuid        NOT NULL PRIMARY KEY,
    orchestration  uuid        NOT NULL REFERENCES orchestrations (id) ON DELETE CASCADE,
    position       bigint      NOT NULL,
    wave           bigint      NOT NULL, -- 0: canaries, 1: all others
    instance       text        COLLATE "C" NOT NULL,
    runtime_id     uuid        NOT NULL,
    shoot_name     text        COLLATE "C" NOT NULL,
    global_account text        COLLATE "C" NOT NULL,
    subaccount     text        COLLATE "C" NOT NULL,
    plan_id        text        COLLATE "C" NOT NULL,
    plan_name      text        COLLATE "C" NOT NULL,
    window_rule    text        COLLATE "C",  -- from when until when on which days
    window_begin   timestamptz,              -- not before
    window_end     timestamptz,
    state          text        COLLATE "C" NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'in progress', 'succeeded', 'failed', 'canceled')),
    description    text        COLLATE "C" NOT NULL,
    accepted       boolean     NOT NULL DEFAULT false, -- its operation is stored
    superseded     boolean     NOT NULL DEFAULT false, -- a later row tries it again
    created_at     timestamptz NOT NULL,
    started_at     timestamptz,
    ended_at       timestamptz
);
CREATE UNIQUE INDEX orchestration_operations_one_each ON orchestration_operations (orchestration, instance) WHERE NOT superseded;
CREATE INDEX orchestration_operations_in_order ON orchestration_operations (orchestration, position);
CREATE INDEX orchestration_operations_by_state ON orchestration_operations (orchestration, state, wave, position);

-- How far a runtime is, written in the transaction that changes its operation. What a removal or a suspension has stopped has
-- not failed.
CREATE FUNCTION keep_orchestration() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE orchestration_operations
    SET state = CASE WHEN NEW.state = 'failed' AND NEW.cancel_state = 'failed' THEN 'canceled' ELSE NEW.state END,
        started_at = NEW.started_at, ended_at = NEW.ended_at
    WHERE operation_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER keep_orchestration AFTER UPDATE ON operations FOR EACH ROW
WHEN (OLD.state <> NEW.state AND NEW.kind <> 'orchestration') EXECUTE FUNCTION keep_orchestration();

-- A driver that fails, or is canceled, ends its orchestration: nothing starts any more.
CREATE FUNCTION end_orchestration() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE orchestrations
    SET state = NEW.state, paused = false, pause_reason = NULL, description = COALESCE(NEW.cancel_reason, NEW.failure::jsonb ->> 'message', NEW.note, description), updated_at = NEW.updated_at
    WHERE driver = NEW.id AND state IN ('pending', 'in progress', 'canceling', 'retrying');
    UPDATE orchestration_operations SET state = 'canceled', description = 'Operation was canceled'
    WHERE orchestration IN (SELECT id FROM orchestrations WHERE driver = NEW.id) AND state = 'pending' AND NOT accepted;
    RETURN NULL;
END $$;
CREATE TRIGGER end_orchestration AFTER UPDATE ON operations FOR EACH ROW
WHEN (OLD.state <> NEW.state AND NEW.kind = 'orchestration' AND NEW.state IN ('failed', 'canceled'))
EXECUTE FUNCTION end_orchestration();
