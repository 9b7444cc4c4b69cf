-- What DBeaver asks for when it connects and opens the tree of a schema and a table.

SELECT current_schema(), session_user;
SELECT db.oid, db.* FROM pg_catalog.pg_database db WHERE datname = 'tests';
SELECT * FROM pg_catalog.pg_settings WHERE name = 'standard_conforming_strings';
SELECT n.oid, n.*, d.description FROM pg_catalog.pg_namespace n
  LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0 AND d.classoid = 'pg_namespace'::regclass
  ORDER BY nspname;
SELECT n.nspname = ANY(current_schemas(true)), n.nspname, t.typname
  FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.oid = 20;
SELECT string_agg(word, ',') FROM pg_catalog.pg_get_keywords() WHERE word <> ALL ('{a,abs,all,and,any}'::text[]);
SELECT t.oid, t.*, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base_type_name, d.description
  FROM pg_catalog.pg_type t
  LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid = t.typelem
  LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
  LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid
  WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C');
SELECT c.oid, c.*, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS partition_expr,
    pg_catalog.pg_get_partkeydef(c.oid) AS partition_key
  FROM pg_catalog.pg_class c
  LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
  WHERE c.relnamespace = 2200 AND c.relkind NOT IN ('i', 'I', 'c');
SELECT c.relname, a.*, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) AS def_value, dsc.description, dep.objid
  FROM pg_catalog.pg_attribute a
  INNER JOIN pg_catalog.pg_class c ON (a.attrelid = c.oid)
  LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid = ad.adrelid AND a.attnum = ad.adnum)
  LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
  LEFT OUTER JOIN pg_depend dep ON dep.refobjid = a.attrelid AND dep.deptype = 'i' AND dep.refobjsubid = a.attnum
    AND dep.classid = dep.refclassid
  WHERE NOT a.attisdropped AND c.relkind NOT IN ('i', 'I', 'c') AND c.oid = {oid:notes} ORDER BY a.attnum;
SELECT c.oid, c.*, t.relname AS tabrelname, rt.relnamespace AS refnamespace, d.description
  FROM pg_catalog.pg_constraint c
  INNER JOIN pg_catalog.pg_class t ON t.oid = c.conrelid
  LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid = c.confrelid
  LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0
    AND d.classoid = 'pg_constraint'::regclass
  WHERE c.conrelid = {oid:child} ORDER BY c.oid;
SELECT i.*, i.indkey AS keys, c.relname, c.relnamespace, c.relam, c.reltablespace, tc.relname AS tabrelname, dsc.description,
    pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS pred_expr, pg_catalog.pg_relation_size(i.indexrelid) AS index_rel_size,
    pg_catalog.pg_stat_get_numscans(i.indexrelid) AS index_num_scans
  FROM pg_catalog.pg_index i
  INNER JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
  INNER JOIN pg_catalog.pg_class tc ON tc.oid = i.indrelid
  LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid = dsc.objoid
  WHERE i.indrelid = {oid:notes} ORDER BY tabrelname, c.relname;
SELECT x.* FROM public.notes x LIMIT 200;
