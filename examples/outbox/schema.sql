-- Whoever changes something that others must hear of inserts a row here, in the same transaction.
CREATE TABLE IF NOT EXISTS outbox (
    id            bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payload       text        NOT NULL,
    relayed_under bigint,     -- the fencing token of the leader that relayed it; NULL until then
    relayed_at    timestamptz
);

-- What is left to do is marked row by row. A position ("all up to 41") would lose rows: 41 can be committed, seen and
-- relayed before 40, which took its number first, is committed.
CREATE INDEX IF NOT EXISTS outbox_pending ON outbox (id) WHERE relayed_under IS NULL;
