-- Credentials for a runtime that a platform has asked for. The row is written before anything is made in the runtime, and goes after
-- everything is removed there. It goes with the instance, too: the instance's cluster goes with everything in it.
CREATE TABLE bindings (
    id                 blob        NOT NULL PRIMARY KEY,
    instance           text        NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    binding            text        NOT NULL
        CHECK (binding <> '' AND length(CAST(binding AS blob)) <= 255), -- as the platform calls it
    runtime_id         blob        NOT NULL,
    state              text        NOT NULL CHECK (state IN ('creating', 'active', 'removing')),
    expiration_seconds integer     NOT NULL CHECK (expiration_seconds > 0),
    predecessor        text,
    credentials        blob        CHECK ((credentials IS NOT NULL) = (state = 'active')), -- sealed: the kubeconfig
    attempt            blob        NOT NULL, -- the call that works on it, or worked on it last
    created_at         integer     NOT NULL,
    expires_at         integer     NOT NULL,
    due_at             integer     NOT NULL  -- from when on the clean-up may take it
) STRICT;
CREATE UNIQUE INDEX bindings_of_instance ON bindings (instance, binding);
CREATE INDEX bindings_by_due_time ON bindings (due_at, id);
