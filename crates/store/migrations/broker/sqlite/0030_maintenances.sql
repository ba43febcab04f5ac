-- What an upgrade has told others about a runtime and has to take back: evaluations in maintenance mode, customers who were told that it
-- has begun. The row is written before the first call, and goes after everything was taken back, whatever became of the operation.
CREATE TABLE maintenances (
    operation_id     blob        NOT NULL PRIMARY KEY,
    instance         text        NOT NULL,
    kind             text        NOT NULL, -- the operation's
    orchestration_id blob,        -- the event that customers know it by
    announced_at     integer      CHECK ((announced_at IS NULL) = (orchestration_id IS NULL)),
    evaluations      text        NOT NULL DEFAULT '[]', -- JSON: each with the status that it had before
    due_at           integer     NOT NULL -- from when on it may be taken back, once the operation has ended
) STRICT;
CREATE INDEX maintenances_by_due_time ON maintenances (due_at, operation_id);
CREATE INDEX maintenances_of_instance ON maintenances (instance, operation_id);
