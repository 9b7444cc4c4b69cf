-- What psycopg 2.9 sends, recorded.

BEGIN;

select id, title from notes where id = 1;

COMMIT;

BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY;

select 1;

ROLLBACK;

select ARRAY[1,2];
