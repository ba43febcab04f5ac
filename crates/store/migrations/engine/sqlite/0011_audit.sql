-- Who asked for what, from before it is carried out. An entry has its place in the chain once its result is known;
-- digest covers the entry and the digest of the one before it.
CREATE TABLE audit (
    id           blob    NOT NULL PRIMARY KEY,
    at           integer NOT NULL,
    action       text    NOT NULL,
    subject      text    NOT NULL,
    issuer       text    NOT NULL,
    tenant       text,
    agent        text,
    correlation  text,
    instance     text,
    operation_id blob,
    details      text    NOT NULL, -- JSON, without secrets
    result       text    CHECK (result IN ('accepted', 'refused', 'unknown')),
    reason       text,
    seq          integer UNIQUE,
    digest       blob,
    CHECK ((seq IS NULL) = (digest IS NULL)),
    CHECK (seq IS NULL OR result IS NOT NULL)
) STRICT;

CREATE INDEX audit_not_linked ON audit (at, id) WHERE seq IS NULL;
CREATE INDEX audit_of_instance ON audit (instance, at);
CREATE INDEX audit_of_operation ON audit (operation_id, at);

-- The end of the chain, and where it begins since older entries were removed.
CREATE TABLE audit_chain (
    one          integer NOT NULL PRIMARY KEY DEFAULT 1 CHECK (one = 1),
    seq          integer NOT NULL,
    digest       blob    NOT NULL,
    first_seq    integer NOT NULL,
    first_digest blob    NOT NULL -- of the entry before the first one
) STRICT;
INSERT INTO audit_chain (seq, digest, first_seq, first_digest) VALUES (0, x'', 1, x'');
