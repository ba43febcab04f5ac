-- The details of a run of a job for which its report has no room, counted from 0.
CREATE TABLE job_details (
    operation_id blob    NOT NULL REFERENCES operations (id) ON DELETE CASCADE,
    number       integer NOT NULL,
    item         text    NOT NULL,
    outcome      text    NOT NULL,
    text         text    NOT NULL,
    PRIMARY KEY (operation_id, number)
) STRICT;
