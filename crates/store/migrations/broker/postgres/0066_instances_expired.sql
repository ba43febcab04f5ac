-- Lists of expired instances read these alone.
CREATE INDEX CONCURRENTLY IF NOT EXISTS instances_expired ON instances (created_at, id) WHERE expired_at IS NOT NULL;
