-- Since when each job is known: its first run is due one interval later. Its runs are operations.
CREATE TABLE jobs (
    name  text        COLLATE "C" NOT NULL PRIMARY KEY,
    since timestamptz NOT NULL
);

-- What is kept of an instance after its operations are deleted; no person is named.
CREATE TABLE instances_archived (
    instance                         text        COLLATE "C" NOT NULL PRIMARY KEY,
    global_account                   text        COLLATE "C" NOT NULL,
    subscription_global_account      text        COLLATE "C" NOT NULL,
    subaccount                       text        COLLATE "C" NOT NULL,
    plan_id                          text        COLLATE "C" NOT NULL,
    plan_name                        text        COLLATE "C" NOT NULL,
    provider                         text        COLLATE "C" NOT NULL,
    region                           text        COLLATE "C" NOT NULL,
    platform_region                  text        COLLATE "C" NOT NULL,
    shoot_name                       text        COLLATE "C" NOT NULL,
    last_runtime_id                  uuid,
    internal_user                    boolean     NOT NULL,
    provisioning_state               text        COLLATE "C" NOT NULL,
    provisioning_started_at          timestamptz,
    provisioning_finished_at         timestamptz,
    first_deprovisioning_started_at  timestamptz NOT NULL,
    first_deprovisioning_finished_at timestamptz NOT NULL,
    last_deprovisioning_finished_at  timestamptz NOT NULL,
    last_operation                   uuid        NOT NULL, -- the removal: ids are not used again
    archived_at                      timestamptz NOT NULL
);
CREATE INDEX instances_archived_by_age ON instances_archived (archived_at);
