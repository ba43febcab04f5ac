-- The details of a run of a job for which its report has no room, counted from 0. They are deleted with it; no foreign
-- key says so, for adding one waits for all who write operations.
CREATE TABLE job_details (
    operation_id blob    NOT NULL,
    number       integer NOT NULL,
    item         text    NOT NULL,
    outcome      text    NOT NULL,
    text         text    NOT NULL,
    PRIMARY KEY (operation_id, number)
) STRICT;
