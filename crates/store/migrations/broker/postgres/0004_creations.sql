-- Calls that make something which cannot be looked for afterwards (AvS, LMS). The row is written before the call, and goes
-- with the commit that keeps the id of what was made; while it is there, something may exist that nobody uses.
CREATE TABLE creations (
    id           uuid        PRIMARY KEY, -- by time
    system       text        COLLATE "C" NOT NULL,
    name         text        COLLATE "C" NOT NULL, -- what it is called there
    instance     text        COLLATE "C" NOT NULL,
    operation_id uuid        NOT NULL,
    began_at     timestamptz NOT NULL,
    answer       text        COLLATE "C" -- the id, when it came and could not be kept with the operation
);
CREATE INDEX creations_of_instance ON creations (instance, id);
