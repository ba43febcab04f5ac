-- Runtimes whose orchestration ends with its driver end at that time.
DROP TRIGGER end_orchestration;
CREATE TRIGGER end_orchestration AFTER UPDATE OF state ON operations
WHEN OLD.state <> NEW.state AND NEW.kind = 'orchestration' AND NEW.state IN ('failed', 'canceled')
BEGIN
    UPDATE orchestrations
    SET state = NEW.state, paused = false, pause_reason = NULL, description = COALESCE(NEW.cancel_reason, NEW.failure ->> '$.message', NEW.note, description), updated_at = NEW.updated_at
    WHERE driver = NEW.id AND state IN ('pending', 'in progress', 'canceling', 'retrying');
    UPDATE orchestration_operations SET state = 'canceled', description = 'Operation was canceled', ended_at = NEW.ended_at
    WHERE orchestration IN (SELECT id FROM orchestrations WHERE driver = NEW.id) AND state = 'pending' AND NOT accepted;
END;
