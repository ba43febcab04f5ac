-- The dry run of an upgrade changes nothing: how an instance stands does not depend on it. Its orchestration knows that it is one.
CREATE OR REPLACE FUNCTION standing_of_instance(instances) RETURNS text LANGUAGE sql STABLE AS $$
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
          AND (o.kind NOT IN ('upgradeKyma', 'upgradeCluster') OR NOT EXISTS (
            SELECT 1 FROM orchestration_operations m JOIN orchestrations c ON c.id = m.orchestration
            WHERE m.operation_id = o.id AND c.parameters::jsonb @> '{"dryRun": true}'))
        ORDER BY o.started_at IS NULL AND o.state IN ('failed', 'canceled'), o.created_at DESC, o.id DESC LIMIT 1), 'provisioning')
$$;

UPDATE instances SET standing = standing_of_instance(instances)
WHERE id IN (
    SELECT m.instance FROM orchestrations c JOIN orchestration_operations m ON m.orchestration = c.id
    WHERE c.parameters::jsonb @> '{"dryRun": true}') AND standing <> standing_of_instance(instances);
