-- Credentials for a runtime that a platform has asked for. The row is written before anything is made in the runtime, and goes after
-- everything is removed there. It goes with the instance, too: the instance's cluster goes with everything in it.
CREATE TABLE bindings (
    id                 uuid        NOT NULL PRIMARY KEY,
    instance           text        COLLATE "C" NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    binding            text        COLLATE "C" NOT NULL
        CHECK (binding <> '' AND octet_length(binding) <= 255), -- as the platform calls it
    runtime_id         uuid        NOT NULL,
    state              text        COLLATE "C" NOT NULL CHECK (state IN ('creating', 'active', 'removing')),
    expiration_seconds bigint      NOT NULL CHECK (expiration_seconds > 0),
    predecessor        text        COLLATE "C",
    credentials        bytea       CHECK ((credentials IS NOT NULL) = (state = 'active')), -- sealed: the kubeconfig
    attempt            uuid        NOT NULL, -- the call that works on it, or worked on it last
    created_at         timestamptz NOT NULL,
    expires_at         timestamptz NOT NULL,
    due_at             timestamptz NOT NULL  -- from when on the clean-up may take it
);
CREATE UNIQUE INDEX bindings_of_instance ON bindings (instance, binding);
CREATE INDEX bindings_by_due_time ON bindings (due_at, id);
