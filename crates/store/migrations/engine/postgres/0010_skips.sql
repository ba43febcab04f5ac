-- The step that an operator has asked to pass over.
ALTER TABLE operations
    ADD COLUMN skip_stage  text COLLATE "C",
    ADD COLUMN skip_step   text COLLATE "C",
    ADD COLUMN skip_reason text COLLATE "C";
