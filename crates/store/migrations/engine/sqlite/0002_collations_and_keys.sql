-- The keys that values here are sealed with, each with a value that only that key opens. A process that cannot open all
-- of them does not start.
CREATE TABLE sealing_keys (
    id     text NOT NULL PRIMARY KEY,
    canary blob NOT NULL
) STRICT;
