-- The details of a run of a job for which its report has no room, counted from 0.
CREATE TABLE job_details (
    operation_id uuid   NOT NULL REFERENCES operations (id) ON DELETE CASCADE,
    number       bigint NOT NULL,
    item         text   COLLATE "C" NOT NULL,
    outcome      text   COLLATE "C" NOT NULL,
    text         text   COLLATE "C" NOT NULL,
    PRIMARY KEY (operation_id, number)
);
