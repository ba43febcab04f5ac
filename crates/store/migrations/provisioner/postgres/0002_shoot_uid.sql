-- Which Shoot was made for the runtime: names are used again, and annotations can be edited.
ALTER TABLE runtimes ADD COLUMN shoot_uid text CHECK (shoot_uid <> '');
-- When the Director was told that the runtime could not be made.
ALTER TABLE runtimes ADD COLUMN failure_told_at timestamptz;

CREATE INDEX runtimes_not_provisioned ON runtimes (id)
    WHERE provisioned_at IS NULL AND deleted_at IS NULL AND failure_told_at IS NULL;
