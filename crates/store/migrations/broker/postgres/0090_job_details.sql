-- The details of a run of a job for which its report has no room, counted from 0. They are deleted with it; no foreign
-- key says so, for adding one waits for all who write operations.
CREATE TABLE job_details (
    operation_id uuid   NOT NULL,
    number       bigint NOT NULL,
    item         text   COLLATE "C" NOT NULL,
    outcome      text   COLLATE "C" NOT NULL,
    text         text   COLLATE "C" NOT NULL,
    PRIMARY KEY (operation_id, number)
);
