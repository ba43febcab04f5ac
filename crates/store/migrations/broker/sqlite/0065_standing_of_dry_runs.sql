-- The dry run of an upgrade changes nothing: how an instance stands does not depend on it. Its orchestration knows that it is one.
CREATE VIEW standing_of_instances AS
SELECT i.id, COALESCE((
    SELECT CASE
        WHEN o.state = 'succeeded' AND o.kind <> 'deprovision' THEN 'succeeded'
        WHEN o.state = 'succeeded' AND i.deleted_at IS NULL THEN 'suspended'
        WHEN o.state = 'succeeded' THEN 'deprovisioned'
        WHEN o.state = 'in progress' AND o.kind = 'provision' THEN 'provisioning'
        WHEN o.state = 'in progress' AND o.kind = 'deprovision' THEN 'deprovisioning'
        WHEN o.state = 'in progress' AND o.kind = 'update' THEN 'updating'
        WHEN o.state = 'in progress' THEN 'upgrading'
        WHEN o.kind IN ('provision', 'deprovision') THEN 'failed'
        ELSE 'error' END
    FROM operations o
    WHERE o.instance = i.id AND o.state <> 'pending'
      AND (o.state <> 'canceled' OR o.kind IN ('provision', 'deprovision'))
      AND (o.kind NOT IN ('upgradeKyma', 'upgradeCluster') OR NOT EXISTS (
        SELECT 1 FROM orchestration_operations m JOIN orchestrations c ON c.id = m.orchestration
        WHERE m.operation_id = o.id AND json_extract(c.parameters, '$.dryRun') IS 1))
    ORDER BY o.started_at IS NULL AND o.state IN ('failed', 'canceled'), o.created_at DESC, o.id DESC LIMIT 1), 'provisioning') AS standing
FROM instances i;

UPDATE instances SET standing = (SELECT s.standing FROM standing_of_instances s WHERE s.id = instances.id)
WHERE id IN (
    SELECT m.instance FROM orchestrations c JOIN orchestration_operations m ON m.orchestration = c.id
    WHERE json_extract(c.parameters, '$.dryRun') IS 1);

DROP TRIGGER keep_standing_of_operation;
CREATE TRIGGER keep_standing_of_operation AFTER UPDATE OF state, kind ON operations
WHEN OLD.state <> NEW.state OR OLD.kind <> NEW.kind
BEGIN
    UPDATE instances SET standing = (SELECT s.standing FROM standing_of_instances s WHERE s.id = NEW.instance)
    WHERE id = NEW.instance;
END;

DROP TRIGGER keep_standing_of_instance;
CREATE TRIGGER keep_standing_of_instance AFTER UPDATE OF deleted_at ON instances
WHEN (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL)
BEGIN
    UPDATE instances SET standing = (SELECT s.standing FROM standing_of_instances s WHERE s.id = NEW.id)
    WHERE id = NEW.id;
END;
