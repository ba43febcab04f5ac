-- What ended operations come to, so that questions about many need not read their journals. An operation is added once, by the
-- transaction that marks it as counted.
ALTER TABLE operations ADD COLUMN counted integer NOT NULL DEFAULT 0;

CREATE INDEX operations_to_count ON operations (ended_at) WHERE ended_at IS NOT NULL AND NOT counted;

-- Steps by the hour in which their operations ended. bucket: how long the step took in an operation, as a power of 1.25 in
-- milliseconds; -1 when it was not completed. The step '' is the operation as a whole.
CREATE TABLE step_sums (
    hour       integer NOT NULL, -- since 1970
    kind       text    NOT NULL,
    step       text    NOT NULL,
    bucket     integer NOT NULL,
    operations integer NOT NULL,
    runs       integer NOT NULL,
    failures   integer NOT NULL,
    retries    integer NOT NULL,
    PRIMARY KEY (hour, kind, step, bucket)
) STRICT;

-- How operations ended, by the day.
CREATE TABLE ended_sums (
    day       integer NOT NULL, -- since 1970
    kind      text    NOT NULL,
    plan      text    NOT NULL,
    succeeded integer NOT NULL,
    failed    integer NOT NULL,
    canceled  integer NOT NULL,
    PRIMARY KEY (day, kind, plan)
) STRICT;
