-- Since when each job is known: its first run is due one interval later. Its runs are operations.
CREATE TABLE jobs (
    name  text    NOT NULL PRIMARY KEY,
    since integer NOT NULL
) STRICT;

-- What is kept of an instance after its operations are deleted; no person is named.
CREATE TABLE instances_archived (
    instance                         text    NOT NULL PRIMARY KEY,
    global_account                   text    NOT NULL,
    subscription_global_account      text    NOT NULL,
    subaccount                       text    NOT NULL,
    plan_id                          text    NOT NULL,
    plan_name                        text    NOT NULL,
    provider                         text    NOT NULL,
    region                           text    NOT NULL,
    platform_region                  text    NOT NULL,
    shoot_name                       text    NOT NULL,
    last_runtime_id                  blob,
    internal_user                    integer NOT NULL,
    provisioning_state               text    NOT NULL,
    provisioning_started_at          integer,
    provisioning_finished_at         integer,
    first_deprovisioning_started_at  integer NOT NULL,
    first_deprovisioning_finished_at integer NOT NULL,
    last_deprovisioning_finished_at  integer NOT NULL,
    last_operation                   blob    NOT NULL, -- the removal: ids are not used again
    archived_at                      integer NOT NULL
) STRICT;
CREATE INDEX instances_archived_by_age ON instances_archived (archived_at);
