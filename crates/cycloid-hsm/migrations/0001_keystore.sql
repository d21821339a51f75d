-- The keystore, for both SQLite and PostgreSQL: SQLite accepts BYTEA and BIGINT as it accepts any
-- type name. A row's clear columns are bound to its sealed ones and to the sealed manifest.

CREATE TABLE schema_version (
    version BIGINT NOT NULL
);

-- A single row. Every writer locks it first.
CREATE TABLE keystore (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    format BIGINT NOT NULL,
    identity BYTEA NOT NULL,    -- 16 random bytes
    keyring BYTEA NOT NULL,     -- sealed by the root key
    manifest BYTEA NOT NULL     -- sealed by a key of the keyring
);

-- The root key, sealed by each way to unlock.
CREATE TABLE slots (
    id BIGINT PRIMARY KEY,
    methods BIGINT NOT NULL,    -- 1 passphrase, 2 key file, 3 both
    memory_kib BIGINT NOT NULL, -- of argon2id
    passes BIGINT NOT NULL,
    lanes BIGINT NOT NULL,
    salt BYTEA NOT NULL,
    sealed BYTEA NOT NULL
);

CREATE TABLE records (
    id BIGINT PRIMARY KEY,      -- never used twice
    version BIGINT NOT NULL,    -- from 1, one more with each change
    generation BIGINT NOT NULL, -- of the keystore, when the row was written
    class BIGINT NOT NULL,      -- CKO_…
    flags BIGINT NOT NULL,      -- 1 has a secret, 2 private, 4 sensitive, 8 extractable
    epoch BIGINT NOT NULL,      -- of the master key
    attributes BYTEA NOT NULL,
    secret BYTEA
);
CREATE INDEX records_generation ON records (generation);
CREATE INDEX records_epoch ON records (epoch);

-- Deleted rows of `records`.
CREATE TABLE deletions (
    id BIGINT PRIMARY KEY,
    generation BIGINT NOT NULL
);
CREATE INDEX deletions_generation ON deletions (generation);

CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    generation BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    value BYTEA NOT NULL
);

CREATE TABLE audit_log (
    sequence BIGINT PRIMARY KEY, -- from 1, without gaps
    time BIGINT NOT NULL,        -- milliseconds since 1970
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    mac BYTEA NOT NULL
);
