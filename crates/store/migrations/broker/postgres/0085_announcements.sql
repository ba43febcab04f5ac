-- Whether an upgrade was stopped before it began: written by the first replica that ends its maintenance, for the operation may be archived.
ALTER TABLE maintenances ADD COLUMN left_out boolean;

-- What an orchestration still has to announce is written down as a maintenance of its driver: instance is the orchestration. A driver that
-- fails leaves that behind for the runtimes that it has not started.
CREATE OR REPLACE FUNCTION end_orchestration() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE orchestrations
    SET state = NEW.state, paused = false, pause_reason = NULL, description = COALESCE(NEW.cancel_reason, NEW.failure::jsonb ->> 'message', NEW.note, description), updated_at = NEW.updated_at
    WHERE driver = NEW.id AND state IN ('pending', 'in progress', 'canceling', 'retrying');
    UPDATE orchestration_operations SET state = 'canceled', description = 'Operation was canceled', ended_at = NEW.ended_at
    WHERE orchestration IN (SELECT id FROM orchestrations WHERE driver = NEW.id) AND state = 'pending' AND NOT accepted;
    INSERT INTO maintenances (operation_id, instance, kind, due_at)
    SELECT NEW.id, NEW.instance, NEW.kind, NEW.ended_at FROM orchestrations WHERE driver = NEW.id
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
