-- Lists of one region, of one plan and of one state are read in order, however many instances there are. Most instances have
-- succeeded, so that a list of these goes by age.
CREATE INDEX instances_of_region ON instances (region, created_at, id);
CREATE INDEX instances_of_plan_name ON instances (plan_name, created_at, id);
CREATE INDEX instances_of_standing ON instances (standing, created_at, id) WHERE standing <> 'succeeded';
