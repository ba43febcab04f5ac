-- One collation for every text: columns that are compared must agree on it, or no index serves the comparison.
ALTER TABLE replicas
    ALTER COLUMN name TYPE text COLLATE "C";
ALTER TABLE operations
    ALTER COLUMN instance TYPE text COLLATE "C",
    ALTER COLUMN kind TYPE text COLLATE "C",
    ALTER COLUMN state TYPE text COLLATE "C",
    ALTER COLUMN stage TYPE text COLLATE "C",
    ALTER COLUMN step TYPE text COLLATE "C",
    ALTER COLUMN closed TYPE text COLLATE "C",
    ALTER COLUMN incomplete TYPE text COLLATE "C",
    ALTER COLUMN clocks TYPE text COLLATE "C",
    ALTER COLUMN note TYPE text COLLATE "C",
    ALTER COLUMN failure TYPE text COLLATE "C",
    ALTER COLUMN awaits TYPE text COLLATE "C",
    ALTER COLUMN cancel_state TYPE text COLLATE "C",
    ALTER COLUMN cancel_reason TYPE text COLLATE "C";
ALTER TABLE runs
    ALTER COLUMN event TYPE text COLLATE "C",
    ALTER COLUMN stage TYPE text COLLATE "C",
    ALTER COLUMN step TYPE text COLLATE "C",
    ALTER COLUMN outcome TYPE text COLLATE "C",
    ALTER COLUMN reason TYPE text COLLATE "C",
    ALTER COLUMN failure TYPE text COLLATE "C",
    ALTER COLUMN state TYPE text COLLATE "C",
    ALTER COLUMN then_stage TYPE text COLLATE "C",
    ALTER COLUMN then_step TYPE text COLLATE "C";

-- The keys that values here are sealed with, each with a value that only that key opens. A process that cannot open all
-- of them does not start.
CREATE TABLE sealing_keys (
    id     text  COLLATE "C" NOT NULL PRIMARY KEY,
    canary bytea NOT NULL
);
