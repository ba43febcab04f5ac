-- Whether an upgrade was stopped before it began: written by the first replica that ends its maintenance, for the operation may be archived.
ALTER TABLE maintenances ADD COLUMN left_out integer;

-- What an orchestration still has to announce is written down as a maintenance of its driver: instance is the orchestration. A driver that
-- fails leaves that behind for the runtimes that it has not started.
DROP TRIGGER end_orchestration;
CREATE TRIGGER end_orchestration AFTER UPDATE OF state ON operations
WHEN OLD.state <> NEW.state AND NEW.kind = 'orchestration' AND NEW.state IN ('failed', 'canceled')
BEGIN
    UPDATE orchestrations
    SET state = NEW.state, paused = false, pause_reason = NULL, description = COALESCE(NEW.cancel_reason, NEW.failure ->> '$.message', NEW.note, description), updated_at = NEW.updated_at
    WHERE driver = NEW.id AND state IN ('pending', 'in progress', 'canceling', 'retrying');
    UPDATE orchestration_operations SET state = 'canceled', description = 'Operation was canceled', ended_at = NEW.ended_at
    WHERE orchestration IN (SELECT id FROM orchestrations WHERE driver = NEW.id) AND state = 'pending' AND NOT accepted;
    INSERT INTO maintenances (operation_id, instance, kind, due_at)
    SELECT NEW.id, NEW.instance, NEW.kind, NEW.ended_at FROM orchestrations WHERE driver = NEW.id
    ON CONFLICT DO NOTHING;
END;
