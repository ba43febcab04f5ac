-- How an instance stands, beside the instance: by its newest operation that counts. One that is pending has changed nothing
-- yet, and an upgrade or update that was canceled has changed nothing at all; an order or a removal that was canceled
-- counts as failed.
ALTER TABLE instances ADD COLUMN standing text NOT NULL DEFAULT 'provisioning';

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
        ORDER BY o.created_at DESC, o.id DESC LIMIT 1), 'provisioning');

-- Written in the transaction that changes the operation, or the instance's end.
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
            ORDER BY o.created_at DESC, o.id DESC LIMIT 1), 'provisioning')
    WHERE id = NEW.instance;
END;

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
            ORDER BY o.created_at DESC, o.id DESC LIMIT 1), 'provisioning')
    WHERE id = NEW.id;
END;
