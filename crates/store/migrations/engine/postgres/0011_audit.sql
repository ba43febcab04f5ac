-- Who asked for what, from before it is carried out. An entry has its place in the chain once its result is known;
-- digest covers the entry and the digest of the one before it.
CREATE TABLE audit (
    id           uuid        NOT NULL PRIMARY KEY,
    at           timestamptz NOT NULL,
    action       text        COLLATE "C" NOT NULL,
    subject      text        COLLATE "C" NOT NULL,
    issuer       text        COLLATE "C" NOT NULL,
    tenant       text        COLLATE "C",
    agent        text        COLLATE "C",
    correlation  text        COLLATE "C",
    instance     text        COLLATE "C",
    operation_id uuid,
    details      text        COLLATE "C" NOT NULL, -- JSON, without secrets
    result       text        COLLATE "C" CHECK (result IN ('accepted', 'refused', 'unknown')),
    reason       text        COLLATE "C",
    seq          bigint      UNIQUE,
    digest       bytea,
    CHECK ((seq IS NULL) = (digest IS NULL)),
    CHECK (seq IS NULL OR result IS NOT NULL)
);

CREATE INDEX audit_not_linked ON audit (at, id) WHERE seq IS NULL;
CREATE INDEX audit_of_instance ON audit (instance, at);
CREATE INDEX audit_of_operation ON audit (operation_id, at);

-- The end of the chain, and where it begins since older entries were removed.
CREATE TABLE audit_chain (
    one          boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (one),
    seq          bigint  NOT NULL,
    digest       bytea   NOT NULL,
    first_seq    bigint  NOT NULL,
    first_digest bytea   NOT NULL -- of the entry before the first one
);
INSERT INTO audit_chain (seq, digest, first_seq, first_digest) VALUES (0, '', 1, '');
