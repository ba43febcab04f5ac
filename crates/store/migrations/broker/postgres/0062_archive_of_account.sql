-- The archive of one global account, page by page.
CREATE INDEX instances_archived_of_account ON instances_archived (global_account, instance);
