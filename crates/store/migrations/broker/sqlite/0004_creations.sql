-- Calls that make something which cannot be looked for afterwards (AvS, LMS). The row is written before the call, and goes
-- with the commit that keeps the id of what was made; while it is there, something may exist that nobody uses.
CREATE TABLE creations (
    id           blob        NOT NULL PRIMARY KEY, -- by time
    system       text        NOT NULL,
    name         text        NOT NULL, -- what it is called there
    instance     text        NOT NULL,
    operation_id blob        NOT NULL,
    began_at     integer     NOT NULL,
    answer       text        -- the id, when it came and could not be kept with the operation
) STRICT;
CREATE INDEX creations_of_instance ON creations (instance, id);
