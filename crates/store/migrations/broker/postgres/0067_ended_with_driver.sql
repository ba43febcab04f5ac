-- Runtimes whose orchestration ends with its driver end at that time.
CREATE OR REPLACE FUNCTION end_orchestration() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE orchestrations
    SET state = NEW.state, paused = false, pause_reason = NULL, description = COALESCE(NEW.cancel_reason, NEW.failure::jsonb ->> 'message', NEW.note, description), updated_at = NEW.updated_at
    WHERE driver = NEW.id AND state IN ('pending', 'in progress', 'canceling', 'retrying');
    UPDATE orchestration_operations SET state = 'canceled', description = 'Operation was canceled', ended_at = NEW.ended_at
    WHERE orchestration IN (SELECT id FROM orchestrations WHERE driver = NEW.id) AND state = 'pending' AND NOT accepted;
    RETURN NULL;
END $$;
