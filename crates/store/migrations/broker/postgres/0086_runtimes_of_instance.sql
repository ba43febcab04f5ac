-- Whether a runtime is tried again.
CREATE INDEX CONCURRENTLY IF NOT EXISTS orchestration_operations_of_instance ON orchestration_operations (instance, orchestration);
