-- When the step of an operation that was abandoned while it ran is gone: before that, nothing of its instance begins.
ALTER TABLE operations ADD COLUMN step_gone_at timestamptz;
CREATE INDEX operations_steps_gone ON operations (instance, step_gone_at) WHERE step_gone_at IS NOT NULL;
