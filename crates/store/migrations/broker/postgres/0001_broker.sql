-- What was ordered. The row goes with the instance, its operations stay. deleted_at: it is removed, but
-- something is left over.
CREATE TABLE instances (
    id              text        COLLATE "C" NOT NULL PRIMARY KEY
        CHECK (id <> '' AND octet_length(id) <= 255),
    global_account  text        NOT NULL CHECK (global_account <> ''),
    subaccount      text        NOT NULL,
    service_id      text        NOT NULL,
    plan_id         text        NOT NULL,
    plan_name       text        NOT NULL,
    provider        text        NOT NULL,
    region          text        NOT NULL,
    platform_region text        NOT NULL,
    shoot_name      text        NOT NULL,
    runtime_id      uuid,
    dashboard_url   text        NOT NULL,
    ordered         bytea       NOT NULL, -- sealed: the order
    details         bytea,                -- sealed: what the last finished operation knew
    digest          bytea       NOT NULL, -- keyed: recognises the request, does not tell it
    accepted_by     uuid        NOT NULL, -- the operation that was accepted with it
    revision        bigint      NOT NULL DEFAULT 1 CHECK (revision > 0),
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    deleted_at      timestamptz,
    expired_at      timestamptz
);

CREATE UNIQUE INDEX instances_one_per_runtime ON instances (runtime_id) WHERE runtime_id IS NOT NULL;
CREATE INDEX instances_by_age ON instances (created_at, id);
CREATE INDEX instances_left_over ON instances (created_at, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX instances_of_account ON instances (global_account, created_at, id);
CREATE INDEX instances_of_subaccount ON instances (subaccount, created_at, id);
CREATE INDEX instances_of_shoot ON instances (shoot_name);
CREATE INDEX instances_of_plan ON instances (plan_id, plan_name, deleted_at);

-- What was sent to whoever builds or installs a runtime, each time; never changed.
CREATE TABLE runtime_states (
    id           uuid        NOT NULL PRIMARY KEY,
    instance     text        COLLATE "C" NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    runtime_id   uuid        NOT NULL,
    operation_id uuid        NOT NULL,
    holds        text        NOT NULL, -- words for what is in the payload, between commas
    payload      bytea       NOT NULL, -- sealed
    created_at   timestamptz NOT NULL
);

CREATE INDEX runtime_states_of_runtime ON runtime_states (runtime_id, created_at, id);
CREATE INDEX runtime_states_of_instance ON runtime_states (instance);
