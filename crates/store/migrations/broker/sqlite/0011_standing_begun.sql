-- An operation that was stopped before it began has changed nothing: it does not count while another one does. Returns from a
-- suspension are stopped so.
UPDATE instances SET standing = COALESCE((
        SELECT CASE
            WHEN o.state = 'succeeded' AND o.kind <> 'deprovision' THEN 'succeeded'
            WHEN o.state = 'succeeded' AND instances.deleted_at IS NULL THEN 'suspended'
            WHEN o.state = 'succeeded' THEN 'deprovisioned'
            WHEN o.state = 'in progress' AND o.kind = 'provision' THEN 'provisioning'
            WHEN o.state = 'in progress' AND o.kind = 'deprovision' THEN 'deprovisioning'
            WHEN o.state = 'in progress' AND o.kind = 'update' THEN 'updating'
            WHEN o.state = 'in progress' THEN 'upgrading'
            WHEN o.kind IN ('provision', 'deprovision') THEN 'failed'
            ELSE 'error' END
        FROM operations o
        WHERE o.instance = instances.id AND o.state <> 'pending'
          AND (o.state <> 'canceled' OR o.kind IN ('provision', 'deprovision'))
        ORDER BY o.started_at IS NULL AND o.state IN ('failed', 'canceled'), o.created_at DESC, o.id DESC LIMIT 1), 'provisioning');

DROP TRIGGER keep_standing_of_operation;
CREATE TRIGGER keep_standing_of_operation AFTER UPDATE OF state, kind ON operations
WHEN OLD.state <> NEW.state OR OLD.kind <> NEW.kind
BEGIN
    UPDATE instances SET standing = COALESCE((
            SELECT CASE
                WHEN o.state = 'succeeded' AND o.kind <> 'deprovision' THEN 'succeeded'
                WHEN o.state = 'succeeded' AND instances.deleted_at IS NULL THEN 'suspended'
                WHEN o.state = 'succeeded' THEN 'deprovisioned'
                WHEN o.state = 'in progress' AND o.kind = 'provision' THEN 'provisioning'
                WHEN o.state = 'in progress' AND o.kind = 'deprovision' THEN 'deprovisioning'
                WHEN o.state = 'in progress' AND o.kind = 'update' THEN 'updating'
                WHEN o.state = 'in progress' THEN 'upgrading'
                WHEN o.kind IN ('provision', 'deprovision') THEN 'failed'
                ELSE 'error' END
            FROM operations o
            WHERE o.instance = instances.id AND o.state <> 'pending'
              AND (o.state <> 'canceled' OR o.kind IN ('provision', 'deprovision'))
            ORDER BY o.started_at IS NULL AND o.state IN ('failed', 'canceled'), o.created_at DESC, o.id DESC LIMIT 1), 'provisioning')
    WHERE id = NEW.instance;
END;

DROP TRIGGER keep_standing_of_instance;
CREATE TRIGGER keep_standing_of_instance AFTER UPDATE OF deleted_at ON instances
WHEN (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL)
BEGIN
    UPDATE instances SET standing = COALESCE((
            SELECT CASE
                WHEN o.state = 'succeeded' AND o.kind <> 'deprovision' THEN 'succeeded'
                WHEN o.state = 'succeeded' AND instances.deleted_at IS NULL THEN 'suspended'
                WHEN o.state = 'succeeded' THEN 'deprovisioned'
                WHEN o.state = 'in progress' AND o.kind = 'provision' THEN 'provisioning'
                WHEN o.state = 'in progress' AND o.kind = 'deprovision' THEN 'deprovisioning'
                WHEN o.state = 'in progress' AND o.kind = 'update' THEN 'updating'
                WHEN o.state = 'in progress' THEN 'upgrading'
                WHEN o.kind IN ('provision', 'deprovision') THEN 'failed'
                ELSE 'error' END
            FROM operations o
            WHERE o.instance = instances.id AND o.state <> 'pending'
              AND (o.state <> 'canceled' OR o.kind IN ('provision', 'deprovision'))
            ORDER BY o.started_at IS NULL AND o.state IN ('failed', 'canceled'), o.created_at DESC, o.id DESC LIMIT 1), 'provisioning')
    WHERE id = NEW.id;
END;
