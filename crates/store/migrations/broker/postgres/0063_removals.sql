-- Lists of removed instances, and the archive's look for them, read removals alone.
CREATE INDEX CONCURRENTLY IF NOT EXISTS operations_removals ON operations (created_at, id)
    WHERE kind = 'deprovision' AND state = 'succeeded';
