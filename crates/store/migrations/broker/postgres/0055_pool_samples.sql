-- How many accounts of the pool were in use, once an hour: the rate at which they are used up.
CREATE TABLE pool_samples (
    hour        bigint  NOT NULL, -- since 1970
    hyperscaler text    COLLATE "C" NOT NULL,
    eu_access   boolean NOT NULL,
    used        bigint  NOT NULL, -- claimed or dirty
    PRIMARY KEY (hour, hyperscaler, eu_access)
);
