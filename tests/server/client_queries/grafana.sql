-- What Grafana's query editor asks for: the version, tables, columns, types.

SELECT current_setting('server_version_num')::int / 100 AS version;
SELECT CASE WHEN quote_ident(table_schema) IN (
      SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
      FROM generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1),
             array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i,
           string_to_array(current_setting('search_path'), ',') s)
    THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table"
  FROM information_schema.tables
  WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog')
  ORDER BY CASE WHEN quote_ident(table_schema) = 'public' THEN 0 ELSE 1 END, 1;
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns
  WHERE CASE WHEN array_length(parse_ident('notes'), 1) = 2
      THEN quote_ident(table_schema) = (parse_ident('notes'))[1] AND quote_ident(table_name) = (parse_ident('notes'))[2]
      ELSE quote_ident(table_name) = 'notes' AND quote_ident(table_schema) IN ('public') END;
SELECT quote_ident(schema_name) FROM information_schema.schemata
  WHERE schema_name NOT LIKE 'pg_%' AND schema_name NOT LIKE '\_%' AND schema_name <> 'information_schema';
