-- One collation for every text: columns that are compared must agree on it, or no index serves the comparison.
ALTER TABLE runtimes
    ALTER COLUMN tenant TYPE text COLLATE "C",
    ALTER COLUMN subaccount TYPE text COLLATE "C",
    ALTER COLUMN shoot TYPE text COLLATE "C",
    ALTER COLUMN shoot_uid TYPE text COLLATE "C";
ALTER TABLE intents
    ALTER COLUMN tenant TYPE text COLLATE "C",
    ALTER COLUMN idempotency_key TYPE text COLLATE "C";
