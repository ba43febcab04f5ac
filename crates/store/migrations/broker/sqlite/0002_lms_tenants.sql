-- The tenants of logging as a service, one for each name and region. A row without a tenant says that somebody is about to
-- make it, or was when it died: the service cannot be asked what it has.
CREATE TABLE lms_tenants (
    name         text        NOT NULL,
    region       text        NOT NULL,
    tenant_id    text,
    operation_id blob        NOT NULL, -- who makes it, or has made it
    asked_at     integer     NOT NULL,
    PRIMARY KEY (name, region)
) STRICT;
