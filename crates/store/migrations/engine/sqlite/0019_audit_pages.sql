-- Pages of the audit go by the ids of entries, newest first.
CREATE INDEX audit_of_instance_by_id ON audit (instance, id);
CREATE INDEX audit_of_operation_by_id ON audit (operation_id, id);
