-- To resume is to accept the failures so far, of canaries too: those that fail later pause again. released goes on only behind canaries that
-- were all canceled; programs before this one take it for the acceptance of all canaries.
ALTER TABLE orchestrations ADD COLUMN forgiven_canaries bigint NOT NULL DEFAULT 0;
UPDATE orchestrations SET forgiven_canaries = (
    SELECT count(*) FROM orchestration_operations m
    WHERE m.orchestration = orchestrations.id AND m.state = 'failed' AND m.wave = 0 AND NOT m.superseded)
WHERE released;
UPDATE orchestrations SET released = true
WHERE NOT released AND state IN ('in progress', 'retrying') AND EXISTS (
    SELECT 1 FROM orchestration_operations m
    WHERE m.orchestration = orchestrations.id AND m.wave = 1 AND m.accepted);

-- When an upgrade ended whose operation is archived: written by the first replica that ends its maintenance.
ALTER TABLE maintenances ADD COLUMN ended_at timestamptz;
