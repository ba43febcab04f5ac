-- Texts are compared byte by byte here already.
SELECT 1;
