-- How many accounts of the pool were in use, once an hour: the rate at which they are used up.
CREATE TABLE pool_samples (
    hour        integer NOT NULL, -- since 1970
    hyperscaler text    NOT NULL,
    eu_access   integer NOT NULL,
    used        integer NOT NULL, -- claimed or dirty
    PRIMARY KEY (hour, hyperscaler, eu_access)
) STRICT;
