-- Names of Shoots that begin with some letters: by bytes, whatever the order of letters in this database.
CREATE INDEX instances_of_shoot_prefix ON instances (shoot_name COLLATE "C");
