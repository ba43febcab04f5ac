-- The clusters we look after. A row is never removed: deleted_at marks the end.
CREATE TABLE runtimes (
    id               blob        NOT NULL PRIMARY KEY
        CHECK (id <> x'00000000000000000000000000000000'),
    tenant           text        NOT NULL CHECK (tenant <> ''),
    subaccount       text        NOT NULL,
    shoot            text        NOT NULL CHECK (shoot <> ''),
    document         blob        NOT NULL, -- sealed: the configuration
    kubeconfig       blob,                 -- sealed
    kubeconfig_until integer,
    revision         integer     NOT NULL DEFAULT 1 CHECK (revision > 0),
    created_at       integer     NOT NULL,
    provisioned_at   integer,
    deleted_at       integer,
    CHECK ((kubeconfig IS NULL) = (kubeconfig_until IS NULL)),
    CHECK (deleted_at IS NULL OR kubeconfig IS NULL)
) STRICT;

-- A name is free again once the Shoot that had it is gone.
CREATE UNIQUE INDEX runtimes_one_per_shoot ON runtimes (shoot) WHERE deleted_at IS NULL;
CREATE INDEX runtimes_of_tenant ON runtimes (tenant, id);

-- What was begun before there was a runtime: registered outside, perhaps, but not accepted yet.
CREATE TABLE intents (
    id              blob        NOT NULL PRIMARY KEY,
    tenant          text        NOT NULL CHECK (tenant <> ''),
    idempotency_key text,
    digest          blob        NOT NULL, -- keyed: recognises the request, does not tell it
    runtime_id      blob,
    operation_id    blob,
    created_at      integer     NOT NULL,
    CHECK (operation_id IS NULL OR runtime_id IS NOT NULL)
) STRICT;

CREATE UNIQUE INDEX intents_one_per_key ON intents (tenant, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX intents_abandoned ON intents (created_at, id) WHERE operation_id IS NULL;
CREATE INDEX intents_answered ON intents (created_at) WHERE operation_id IS NOT NULL;
