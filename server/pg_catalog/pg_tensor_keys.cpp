// Tensors have a primary key in pg_catalog: their labels. Its index stands for their tiles, and tells the type, the
// extents and the partition, so that psql's \d shows them.
#include "server/pg_catalog/pg_catalog_schema.hpp"

namespace eindb {

const char* const kPgCatalogTensorKeys = R"sql(
WITH dimensions(id, position, label, extent, parts) AS (
  SELECT json_extract(value, '$.id'), json_extract(value, '$.position'), json_extract(value, '$.label'),
    json_extract(value, '$.extent'), json_extract(value, '$.parts') FROM json_each(eindb_dimensions()) ORDER BY 1, 2),
keys(id, name, schema, dtype, columns, count, labels, extents, parts) AS (
  SELECT d.id, json_extract(t.value, '$.name'), CASE json_extract(t.value, '$.namespace') WHEN 2201 THEN 'pg_temp'
      ELSE 'public' END, json_extract(t.value, '$.dtype'), group_concat(d.position + 1, ' '),
    count(*), group_concat(quote_ident(d.label), ', '), group_concat(d.extent), group_concat(d.parts)
  FROM dimensions d JOIN json_each(eindb_tensors()) t ON json_extract(t.value, '$.id') = d.id GROUP BY d.id)
INSERT INTO pg_catalog.pg_index
  SELECT 402653184 + id, 268435456 + id, count, count, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, columns, '0', '0',
    rtrim(replace(hex(zeroblob(count)), '00', '0 ')), NULL, NULL,
    'CREATE UNIQUE INDEX ' || quote_ident(name || '_pkey') || ' ON ' || schema || '.' || quote_ident(name) || ' USING tiles ('
    || labels || ') WITH (type=''' || dtype || ''', extents=''' || extents || ''', partition=''' || parts || ''')'
  FROM keys;
INSERT INTO pg_catalog.pg_class
  SELECT x.indexrelid, t.relname || '_pkey', t.relnamespace, 0, 0, 10, 9400, x.indexrelid, 0, 0, -1, 0, 0, 0, 0, 'p', 'i', x.indnatts,
    0, 0, 0, 0, 0, 0, 1, 'd', 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0
  FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class t ON t.oid = x.indrelid
  WHERE x.indexrelid BETWEEN 402653184 AND 536870911;
INSERT INTO pg_catalog.pg_attribute
  SELECT x.indexrelid, a.attname, a.atttypid, -1, a.attlen, e.key + 1, 0, -1, -1, a.attbyval, a.attalign, a.attstorage, '',
    0, 0, 0, '', '', 0, 1, 0, 0, NULL, NULL, NULL, NULL
  FROM pg_catalog.pg_index x, json_each(pg_array_json(x.indkey)) e
    JOIN pg_catalog.pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = e.value
  WHERE x.indexrelid BETWEEN 402653184 AND 536870911;
INSERT INTO pg_catalog.pg_constraint
  SELECT x.indexrelid, c.relname, c.relnamespace, 'p', 0, 0, 1, x.indrelid, 0, x.indexrelid, 0, 0, ' ', ' ', ' ', 1, 0, 1,
    '{' || replace(x.indkey, ' ', ',') || '}', NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    'PRIMARY KEY (' || (SELECT group_concat(quote_ident(a.attname), ', ') FROM json_each(pg_array_json(x.indkey)) e
      JOIN pg_catalog.pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = e.value) || ')'
  FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class c ON c.oid = x.indexrelid
  WHERE x.indexrelid BETWEEN 402653184 AND 536870911;
UPDATE pg_catalog.pg_class SET relhasindex = 1
  WHERE oid IN (SELECT indrelid FROM pg_catalog.pg_index WHERE indexrelid BETWEEN 402653184 AND 536870911);
UPDATE pg_catalog.pg_class SET relacl = (
  SELECT '{' || group_concat(quote_ident(json_extract(g.value, '$.grantee')) || '='
    || CASE WHEN json_extract(g.value, '$.rights') & 2 THEN 'a' ELSE '' END
    || CASE WHEN json_extract(g.value, '$.rights') & 1 THEN 'r' ELSE '' END
    || CASE WHEN json_extract(g.value, '$.rights') & 4 THEN 'w' ELSE '' END
    || CASE WHEN json_extract(g.value, '$.rights') & 8 THEN 'd' ELSE '' END || '/' || quote_ident(pg_get_userbyid(10))) || '}'
  FROM json_each(eindb_grants()) g WHERE json_extract(g.value, '$.object') = relname COLLATE NOCASE)
  WHERE relnamespace = 2200 AND relkind IN ('r', 'v') AND eindb_grants() IS NOT NULL;
UPDATE pg_catalog.pg_class SET definition = eindb_view_query(definition) WHERE relkind = 'v';
)sql";

}  // namespace eindb
