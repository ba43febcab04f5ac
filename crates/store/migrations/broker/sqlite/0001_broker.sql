-- What was ordered. The row goes with the instance, its operations stay. deleted_at: it is removed, but
-- something is left over.
CREATE TABLE instances (
    id              text        NOT NULL PRIMARY KEY
        CHECK (id <> '' AND length(CAST(id AS blob)) <= 255),
    global_account  text        NOT NULL CHECK (global_account <> ''),
    subaccount      text        NOT NULL,
    service_id      text        NOT NULL,
    plan_id         text        NOT NULL,
    plan_name       text        NOT NULL,
    provider        text        NOT NULL,
    region          text        NOT NULL,
    platform_region text        NOT NULL,
    shoot_name      text        NOT NULL,
    runtime_id      blob,
    dashboard_url   text        NOT NULL,
    ordered         blob        NOT NULL, -- sealed: the order
    details         blob,                 -- sealed: what the last finished operation knew
    digest          blob        NOT NULL, -- keyed: recognises the request, does not tell it
    accepted_by     blob        NOT NULL, -- the operation that was accepted with it
    revision        integer     NOT NULL DEFAULT 1 CHECK (revision > 0),
    created_at      integer     NOT NULL,
    updated_at      integer     NOT NULL,
    deleted_at      integer,
    expired_at      integer
) STRICT;

CREATE UNIQUE INDEX instances_one_per_runtime ON instances (runtime_id) WHERE runtime_id IS NOT NULL;
CREATE INDEX instances_by_age ON instances (created_at, id);
CREATE INDEX instances_left_over ON instances (created_at, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX instances_of_account ON instances (global_account, created_at, id);
CREATE INDEX instances_of_subaccount ON instances (subaccount, created_at, id);
CREATE INDEX instances_of_shoot ON instances (shoot_name);
CREATE INDEX instances_of_plan ON instances (plan_id, plan_name, deleted_at);

-- What was sent to whoever builds or installs a runtime, each time; never changed.
CREATE TABLE runtime_states (
    id           blob        NOT NULL PRIMARY KEY,
    instance     text        NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    runtime_id   blob        NOT NULL,
    operation_id blob        NOT NULL,
    holds        text        NOT NULL, -- words for what is in the payload, between commas
    payload      blob        NOT NULL, -- sealed
    created_at   integer     NOT NULL
) STRICT;

CREATE INDEX runtime_states_of_runtime ON runtime_states (runtime_id, created_at, id);
CREATE INDEX runtime_states_of_instance ON runtime_states (instance);
