-- Whether a runtime is tried again.
CREATE INDEX orchestration_operations_of_instance ON orchestration_operations (instance, orchestration);
