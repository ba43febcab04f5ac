-- One collation for every text: columns that are compared must agree on it, or no index serves the comparison.
ALTER TABLE instances
    ALTER COLUMN global_account TYPE text COLLATE "C",
    ALTER COLUMN subaccount TYPE text COLLATE "C",
    ALTER COLUMN service_id TYPE text COLLATE "C",
    ALTER COLUMN plan_id TYPE text COLLATE "C",
    ALTER COLUMN plan_name TYPE text COLLATE "C",
    ALTER COLUMN provider TYPE text COLLATE "C",
    ALTER COLUMN region TYPE text COLLATE "C",
    ALTER COLUMN platform_region TYPE text COLLATE "C",
    ALTER COLUMN shoot_name TYPE text COLLATE "C",
    ALTER COLUMN dashboard_url TYPE text COLLATE "C";
ALTER TABLE runtime_states
    ALTER COLUMN holds TYPE text COLLATE "C";
ALTER TABLE lms_tenants
    ALTER COLUMN tenant_id TYPE text COLLATE "C";

-- How an instance stands, beside the instance: by its newest operation that counts. One that is pending has changed nothing
-- yet, and an upgrade or update that was canceled has changed nothing at all; an order or a removal that was canceled
-- counts as failed.
ALTER TABLE instances ADD COLUMN standing text COLLATE "C" NOT NULL DEFAULT 'provisioning';

CREATE FUNCTION standing_of_instance(instances) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT COALESCE((
        SELECT CASE
            WHEN o.state = 'succeeded' AND o.kind <> 'deprovision' THEN 'succeeded'
            WHEN o.state = 'succeeded' AND $1.deleted_at IS NULL THEN 'suspended'
            WHEN o.state = 'succeeded' THEN 'deprovisioned'
            WHEN o.state = 'in progress' AND o.kind = 'provision' THEN 'provisioning'
            WHEN o.state = 'in progress' AND o.kind = 'deprovision' THEN 'deprovisioning'
            WHEN o.state = 'in progress' AND o.kind = 'update' THEN 'updating'
            WHEN o.state = 'in progress' THEN 'upgrading'
            WHEN o.kind IN ('provision', 'deprovision') THEN 'failed'
            ELSE 'error' END
        FROM operations o
        WHERE o.instance = $1.id AND o.state <> 'pending'
          AND (o.state <> 'canceled' OR o.kind IN ('provision', 'deprovision'))
        ORDER BY o.created_at DESC, o.id DESC LIMIT 1), 'provisioning')
$$;

UPDATE instances SET standing = standing_of_instance(instances)
WHERE standing <> standing_of_instance(instances);

-- Written in the transaction that changes the operation, or the instance's end.
CREATE FUNCTION keep_standing_of_operation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE instances SET standing = standing_of_instance(instances)
    WHERE id = NEW.instance AND standing <> standing_of_instance(instances);
    RETURN NULL;
END $$;

CREATE TRIGGER keep_standing AFTER UPDATE ON operations FOR EACH ROW
WHEN (OLD.state <> NEW.state OR OLD.kind <> NEW.kind)
EXECUTE FUNCTION keep_standing_of_operation();

CREATE FUNCTION keep_standing_of_instance() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.standing = standing_of_instance(NEW);
    RETURN NEW;
END $$;

CREATE TRIGGER keep_standing BEFORE UPDATE ON instances FOR EACH ROW
WHEN ((OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL))
EXECUTE FUNCTION keep_standing_of_instance();
