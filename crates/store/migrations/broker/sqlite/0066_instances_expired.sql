-- Lists of expired instances read these alone.
CREATE INDEX instances_expired ON instances (created_at, id) WHERE expired_at IS NOT NULL;
