-- Pages of the audit with one action or of one caller, newest first. On PostgreSQL nothing is written to the audit while they are built.
CREATE INDEX audit_of_action_by_id ON audit (action, id);
CREATE INDEX audit_of_subject_by_id ON audit (subject, id);
