-- version 1: elections, the state of the whole, and who leads
CREATE TABLE {state} (
    one         boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (one),
    version     integer NOT NULL,           -- of this schema: the last of its steps that was taken
    readable_by integer NOT NULL,           -- the oldest version whose programs may go on using it
    floor       bigint  NOT NULL DEFAULT 0  -- the highest token that was pruned: new records start above it
);
COMMENT ON TABLE {state} IS 'tenure: version of the schema, and the token above which new elections start';
INSERT INTO {state} (version, readable_by) VALUES (1, 1);

CREATE TABLE {table} (
    election          text        NOT NULL COLLATE "C" PRIMARY KEY,
    token             bigint      NOT NULL CHECK (token BETWEEN 0 AND 9007199254740991),
    leader            text        NOT NULL DEFAULT '', -- empty while the seat is vacant
    session           text        NOT NULL DEFAULT '', -- nonce of the leading process
    address           text        NOT NULL DEFAULT '',
    metadata          jsonb       NOT NULL DEFAULT '{}',
    ttl               interval    NOT NULL DEFAULT '0' CHECK (ttl BETWEEN interval '0' AND interval '24 hours'),
    renewals          bigint      NOT NULL DEFAULT 0 CHECK (renewals >= 0),
    request           jsonb,                           -- what is asked of the leader
    pause             jsonb,                           -- while it is there nobody leads
    reserved          text        NOT NULL DEFAULT '', -- whom a vacant seat is kept for
    forgotten         boolean     NOT NULL DEFAULT false,
    extra             json,                            -- fields that this version does not know, as they were written
    leader_elected_at timestamptz,                     -- by the leader's clock, for people
    leader_renewed_at timestamptz,
    elected_at        timestamptz NOT NULL DEFAULT clock_timestamp(), -- by this server's clock, for people
    renewed_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at        timestamptz NOT NULL DEFAULT clock_timestamp(), -- any write; Prune goes by it
    renewal           boolean     NOT NULL DEFAULT false, -- whether the last write was a renewal and nothing else
    version           uuid        NOT NULL DEFAULT gen_random_uuid(), -- new with every write
    CHECK (leader = '' OR (session <> '' AND ttl > interval '0'))
) WITH (fillfactor = 50); -- room on the page for the next states of a row, so that renewals touch no index
COMMENT ON TABLE {table} IS 'tenure: elections; whoever changes a row by hand sets version = gen_random_uuid()';

-- A transaction that holds FOR KEY SHARE on a row lets renewals pass and makes a change of the token wait, because the
-- token is part of a unique index.
CREATE UNIQUE INDEX {term} ON {table} (election, token);

CREATE VIEW {leaders} AS
    SELECT election, leader, token, address, metadata, elected_at, renewed_at, ttl,
           renewed_at + ttl AS until,
           renewed_at + ttl < clock_timestamp() AS overdue,
           request, session, renewals
    FROM {table}
    WHERE leader <> '';
COMMENT ON VIEW {leaders} IS 'tenure: who leads what, and until when unless it renews, by this server''s clock';
