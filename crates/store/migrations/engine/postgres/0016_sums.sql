-- What ended operations come to, so that questions about many need not read their journals. An operation is added once, by the
-- transaction that marks it as counted.
ALTER TABLE operations ADD COLUMN counted boolean NOT NULL DEFAULT false;

CREATE INDEX operations_to_count ON operations (ended_at) WHERE ended_at IS NOT NULL AND NOT counted;

-- Steps by the hour in which their operations ended. bucket: how long the step took in an operation, as a power of 1.25 in
-- milliseconds; -1 when it was not completed. The step '' is the operation as a whole.
CREATE TABLE step_sums (
    hour       bigint NOT NULL, -- since 1970
    kind       text   COLLATE "C" NOT NULL,
    step       text   COLLATE "C" NOT NULL,
    bucket     bigint NOT NULL,
    operations bigint NOT NULL,
    runs       bigint NOT NULL,
    failures   bigint NOT NULL,
    retries    bigint NOT NULL,
    PRIMARY KEY (hour, kind, step, bucket)
);

-- How operations ended, by the day.
CREATE TABLE ended_sums (
    day       bigint NOT NULL, -- since 1970
    kind      text   COLLATE "C" NOT NULL,
    plan      text   COLLATE "C" NOT NULL,
    succeeded bigint NOT NULL,
    failed    bigint NOT NULL,
    canceled  bigint NOT NULL,
    PRIMARY KEY (day, kind, plan)
);
