-- Names of Shoots are compared by bytes here: the index that there is serves prefixes, too. Nothing changes.
SELECT 1;
