// The tables of pg_catalog as in PostgreSQL 15, as far as clients query them. Some have additional columns at the end:
// `definition`, `sqlname`, `arguments`, `dense_bytes`. declared_data_type defines the names of types.
#include "server/pg_catalog/pg_catalog_schema.hpp"

namespace eindb {

const char* const kPgCatalogTables = R"sql(
CREATE TABLE IF NOT EXISTS pg_catalog.pg_namespace(oid oid PRIMARY KEY, nspname name text, nspowner oid, nspacl
    text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_class(oid oid PRIMARY KEY, relname name text, relnamespace oid, reltype
    oid, reloftype oid, relowner oid, relam oid, relfilenode oid, reltablespace oid, relpages int, reltuples real,
    relallvisible int, reltoastrelid oid, relhasindex bool, relisshared bool, relpersistence pgchar, relkind pgchar,
    relnatts int, relchecks int, relhasrules bool, relhastriggers bool, relhassubclass bool, relrowsecurity bool,
    relforcerowsecurity bool, relispopulated bool, relreplident pgchar, relispartition bool, relrewrite oid,
    relfrozenxid int, relminmxid int, relacl text, reloptions text, relpartbound text, definition text, dense_bytes
    int);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_attribute(attrelid oid, attname name text, atttypid oid, attstattarget int,
    attlen int, attnum int, attndims int, attcacheoff int, atttypmod int, attbyval bool, attalign pgchar, attstorage
    pgchar, attcompression pgchar, attnotnull bool, atthasdef bool, atthasmissing bool, attidentity pgchar,
    attgenerated pgchar, attisdropped bool, attislocal bool, attinhcount int, attcollation oid, attacl text,
    attoptions text, attfdwoptions text, attmissingval text, PRIMARY KEY (attrelid, attnum));
CREATE TABLE IF NOT EXISTS pg_catalog.pg_type(oid oid PRIMARY KEY, typname name text, typnamespace oid, typowner
    oid, typlen int, typbyval bool, typtype pgchar, typcategory pgchar, typispreferred bool, typisdefined bool,
    typdelim pgchar, typrelid oid, typsubscript, typelem oid, typarray oid, typinput, typoutput,
    typreceive, typsend, typmodin, typmodout, typanalyze, typalign pgchar, typstorage
    pgchar, typnotnull bool, typbasetype oid, typtypmod int, typndims int, typcollation oid, typdefaultbin text,
    typdefault text, typacl text, sqlname text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_index(indexrelid oid PRIMARY KEY, indrelid oid, indnatts int, indnkeyatts
    int, indisunique bool, indnullsnotdistinct bool, indisprimary bool, indisexclusion bool, indimmediate bool,
    indisclustered bool, indisvalid bool, indcheckxmin bool, indisready bool, indislive bool, indisreplident bool,
    indkey int2vector, indcollation text, indclass text, indoption int2vector, indexprs text, indpred text, definition text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_attrdef(oid oid PRIMARY KEY, adrelid oid, adnum int, adbin text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_constraint(oid oid PRIMARY KEY, conname name text, connamespace oid,
    contype pgchar, condeferrable bool, condeferred bool, convalidated bool, conrelid oid, contypid oid, conindid
    oid, conparentid oid, confrelid oid, confupdtype pgchar, confdeltype pgchar, confmatchtype pgchar, conislocal
    bool, coninhcount int, connoinherit bool, conkey int2[], confkey int2[], conpfeqop text, conppeqop text, conffeqop
    text, confdelsetcols text, conexclop text, conbin text, definition text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_proc(oid oid PRIMARY KEY, proname name text, pronamespace oid, proowner
    oid, prolang oid, procost real, prorows real, provariadic oid, prosupport text, prokind pgchar, prosecdef bool,
    proleakproof bool, proisstrict bool, proretset bool, provolatile pgchar, proparallel pgchar, pronargs int,
    pronargdefaults int, prorettype oid, proargtypes text, proallargtypes text, proargmodes text, proargnames text,
    proargdefaults text, protrftypes text, prosrc text, probin text, prosqlbody text, proconfig text, proacl text,
    arguments text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_am(oid oid PRIMARY KEY, amname name text, amhandler text, amtype pgchar);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_language(oid oid PRIMARY KEY, lanname name text, lanowner oid, lanispl
    bool, lanpltrusted bool, lanplcallfoid oid, laninline oid, lanvalidator oid, lanacl text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_collation(oid oid PRIMARY KEY, collname name text, collnamespace oid,
    collowner oid, collprovider pgchar, collisdeterministic bool, collencoding int, collcollate text, collctype
    text, colliculocale text, collversion text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_tablespace(oid oid PRIMARY KEY, spcname name text, spcowner oid, spcacl
    text, spcoptions text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_trigger(oid oid PRIMARY KEY, tgrelid oid, tgparentid oid, tgname name text,
    tgfoid oid, tgtype int, tgenabled pgchar, tgisinternal bool, tgconstrrelid oid, tgconstrindid oid, tgconstraint
    oid, tgdeferrable bool, tginitdeferred bool, tgnargs int, tgattr text, tgargs blob, tgqual text, tgoldtable
    text, tgnewtable text, definition text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_description(objoid oid, classoid oid, objsubid int, description text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_shdescription(objoid oid, classoid oid, description text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_inherits(inhrelid oid, inhparent oid, inhseqno int, inhdetachpending bool);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_partitioned_table(partrelid oid, partstrat pgchar, partnatts int, partdefid
    oid, partattrs text, partclass text, partcollation text, partexprs text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_policy(oid oid, polname name text, polrelid oid, polcmd pgchar,
    polpermissive bool, polroles text, polqual text, polwithcheck text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_publication(oid oid, pubname name text, pubowner oid, puballtables bool,
    pubinsert bool, pubupdate bool, pubdelete bool, pubtruncate bool, pubviaroot bool);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_publication_namespace(oid oid, pnpubid oid, pnnspid oid);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_publication_rel(oid oid, prpubid oid, prrelid oid, prqual text, prattrs
    text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_subscription(oid oid, subdbid oid, subname name text, subowner oid,
    subenabled bool, subbinary bool, substream bool, subtwophasestate pgchar, subdisableonerr bool, subconninfo text,
    subslotname name text, subsynccommit text, subpublications text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_init_privs(objoid oid, classoid oid, objsubid int, privtype pgchar, initprivs
    text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_transform(oid oid, trftype oid, trflang oid, trffromsql oid, trftosql oid);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_statistic_ext(oid oid, stxrelid oid, stxname name text, stxnamespace oid,
    stxowner oid, stxstattarget int, stxkeys text, stxkind text, stxexprs text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_extension(oid oid, extname name text, extowner oid, extnamespace oid,
    extrelocatable bool, extversion text, extconfig text, extcondition text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_range(rngtypid oid, rngsubtype oid, rngmultitypid oid, rngcollation oid,
    rngsubopc oid, rngcanonical text, rngsubdiff text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_enum(enumtypid oid, enumsortorder real, enumlabel name text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_rewrite(oid oid, rulename name text, ev_class oid, ev_type pgchar,
    ev_enabled pgchar, is_instead bool, ev_qual text, ev_action text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_auth_members(roleid oid, member oid, grantor oid, admin_option bool);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_db_role_setting(setdatabase oid, setrole oid, setconfig text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_default_acl(oid oid, defaclrole oid, defaclnamespace oid, defaclobjtype
    pgchar, defaclacl text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_depend(classid oid, objid oid, objsubid int, refclassid oid, refobjid oid,
    refobjsubid int, deptype pgchar);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_shdepend(dbid oid, classid oid, objid oid, objsubid int, refclassid oid,
    refobjid oid, deptype pgchar);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_sequence(seqrelid oid, seqtypid oid, seqstart int, seqincrement int, seqmax
    int, seqmin int, seqcache int, seqcycle bool);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_event_trigger(oid oid, evtname name text, evtevent name text, evtowner oid,
    evtfoid oid, evtenabled pgchar, evttags text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_foreign_table(ftrelid oid, ftserver oid, ftoptions text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_foreign_server(oid oid, srvname name text, srvowner oid, srvfdw oid,
    srvtype text, srvversion text, srvacl text, srvoptions text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_foreign_data_wrapper(oid oid, fdwname name text, fdwowner oid, fdwhandler
    oid, fdwvalidator oid, fdwacl text, fdwoptions text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_operator(oid oid, oprname name text, oprnamespace oid, oprowner oid,
    oprkind pgchar, oprleft oid, oprright oid, oprresult oid, oprcode text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_opclass(oid oid, opcmethod oid, opcname name text, opcnamespace oid,
    opcowner oid, opcfamily oid, opcintype oid, opcdefault bool, opckeytype oid);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_aggregate(aggfnoid oid, aggkind pgchar, aggnumdirectargs int);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_cast(oid oid, castsource oid, casttarget oid, castfunc oid, castcontext
    pgchar, castmethod pgchar);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_conversion(oid oid, conname name text, connamespace oid, conowner oid,
    conforencoding int, contoencoding int, conproc text, condefault bool);
CREATE TABLE IF NOT EXISTS pg_catalog.eindb_constraint(relation oid, type pgchar, name name text, columns text,
    definition text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_locks(locktype text, database oid, relation oid, pid int, mode text,
    granted bool);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_prepared_xacts(transaction_id int, gid text, prepared text, owner name
    text, database name text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_stat_user_tables(relid oid, schemaname name text, relname name text,
    seq_scan int, seq_tup_read int, idx_scan int, n_live_tup int, n_dead_tup int, last_vacuum text, last_analyze
    text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_opfamily(oid oid, opfmethod oid, opfname name text, opfnamespace oid, opfowner
    oid);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_amop(oid oid, amopfamily oid, amoplefttype oid, amoprighttype oid,
    amopstrategy int, amoppurpose pgchar, amopopr oid, amopmethod oid, amopsortfamily oid);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_amproc(oid oid, amprocfamily oid, amproclefttype oid, amprocrighttype oid,
    amprocnum int, amproc oid);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_ts_config(oid oid, cfgname name text, cfgnamespace oid, cfgowner oid, cfgparser
    oid);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_ts_config_map(mapcfg oid, maptokentype int, mapseqno int, mapdict oid);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_ts_dict(oid oid, dictname name text, dictnamespace oid, dictowner oid,
    dicttemplate oid, dictinitoption text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_ts_parser(oid oid, prsname name text, prsnamespace oid, prsstart text, prstoken
    text, prsend text, prsheadline text, prslextype text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_ts_template(oid oid, tmplname name text, tmplnamespace oid, tmplinit text,
    tmpllexize text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_user_mapping(oid oid, umuser oid, umserver oid, umoptions text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_user_mappings(umid oid, srvid oid, srvname name text, umuser oid, usename
    name text, umoptions text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_seclabels(objoid oid, classoid oid, objsubid int, objtype text, objnamespace
    oid, objname text, provider text, label text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_largeobject_metadata(oid oid, lomowner oid, lomacl text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_timezone_names(name text, abbrev text, utc_offset text, is_dst bool);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_available_extensions(name name text, default_version text, installed_version
    text, comment text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_available_extension_versions(name name text, version text, installed bool,
    superuser bool, trusted bool, relocatable bool, schema name text, requires text, comment text);
-- Views of PostgreSQL over what a database of eindb never has.
CREATE TABLE IF NOT EXISTS pg_catalog.pg_sequences(schemaname name text, sequencename name text, sequenceowner name
    text, data_type text, start_value int, min_value int, max_value int, increment_by int, cycle bool, cache_size int,
    last_value int);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_rules(schemaname name text, tablename name text, rulename name text, definition
    text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_policies(schemaname name text, tablename name text, policyname name text,
    permissive text, roles text, cmd text, qual text, with_check text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_publication_tables(pubname name text, schemaname name text, tablename name
    text, attnames text, rowfilter text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_replication_slots(slot_name name text, plugin name text, slot_type text, datoid
    oid, database name text, temporary bool, active bool, active_pid int, restart_lsn text, confirmed_flush_lsn text);
CREATE TABLE IF NOT EXISTS pg_catalog.pg_stat_replication(pid int, usesysid oid, usename name text, application_name
    text, client_addr text, state text, sync_state text);
)sql";

const char* const kPgCatalogViews = R"sql(
-- One row each, so that the columns of the views have types: all but the names, which differ from client to client.
CREATE TABLE IF NOT EXISTS pg_catalog.eindb_role(oid oid PRIMARY KEY, rolsuper bool, rolinherit bool, rolcreaterole bool,
  rolcreatedb bool, rolcanlogin bool, rolreplication bool, rolconnlimit int, rolpassword text, rolvaliduntil text,
  rolbypassrls bool, rolconfig text);
INSERT OR IGNORE INTO pg_catalog.eindb_role VALUES (10, 0, 1, 0, 0, 1, 0, -1, '********', NULL, 0, NULL);
CREATE TABLE IF NOT EXISTS pg_catalog.eindb_database(oid oid PRIMARY KEY, datdba oid, encoding int, datlocprovider pgchar,
  datistemplate bool, datallowconn bool, datconnlimit int, datfrozenxid int, datminmxid int, dattablespace oid,
  datcollate text, datctype text, daticulocale text, datcollversion text, datacl text);
INSERT OR IGNORE INTO pg_catalog.eindb_database
  VALUES (5, 10, 6, 'c', 0, 1, -1, 0, 1, 1663, 'C.UTF-8', 'C.UTF-8', NULL, NULL, NULL);
CREATE VIEW IF NOT EXISTS pg_catalog.pg_roles AS
  SELECT oid, current_user() AS rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication,
    rolconnlimit, rolpassword, rolvaliduntil, rolbypassrls, rolconfig FROM eindb_role;
CREATE VIEW IF NOT EXISTS pg_catalog.pg_authid AS SELECT * FROM pg_roles;
CREATE VIEW IF NOT EXISTS pg_catalog.pg_user AS
  SELECT rolname AS usename, oid AS usesysid, rolcreatedb AS usecreatedb, rolsuper AS usesuper,
    rolreplication AS userepl, rolbypassrls AS usebypassrls, rolpassword AS passwd, rolvaliduntil AS valuntil,
    rolconfig AS useconfig FROM pg_roles;
CREATE VIEW IF NOT EXISTS pg_catalog.pg_shadow AS SELECT * FROM pg_user;
CREATE VIEW IF NOT EXISTS pg_catalog.pg_group AS SELECT rolname AS groname, oid AS grosysid, '{}' AS grolist FROM pg_roles
  WHERE 0;
CREATE VIEW IF NOT EXISTS pg_catalog.pg_database AS
  SELECT oid, current_database() AS datname, datdba, encoding, datlocprovider, datistemplate, datallowconn,
    datconnlimit, datfrozenxid, datminmxid, dattablespace, datcollate, datctype, daticulocale, datcollversion, datacl
  FROM eindb_database;
CREATE VIEW IF NOT EXISTS pg_catalog.pg_settings AS
  SELECT key AS name, value AS setting, NULL AS unit, '' AS category, '' AS short_desc, NULL AS extra_desc,
    'user' AS context, 'string' AS vartype, 'default' AS source, NULL AS min_val, NULL AS max_val, NULL AS enumvals,
    value AS boot_val, value AS reset_val, NULL AS sourcefile, NULL AS sourceline, 0 AS pending_restart
  FROM json_each(pg_settings_json());
CREATE VIEW IF NOT EXISTS pg_catalog.pg_stat_activity AS
  SELECT 5 AS datid, eindb_session_field(value, 'datname') AS datname, eindb_session_field(value, 'pid') AS pid,
    NULL AS leader_pid, 10 AS usesysid, eindb_session_field(value, 'usename') AS usename,
    eindb_session_field(value, 'application_name') AS application_name,
    eindb_session_field(value, 'client_addr') AS client_addr, NULL AS client_hostname,
    eindb_session_field(value, 'client_port') AS client_port,
    eindb_session_field(value, 'backend_start') AS backend_start, NULL AS xact_start,
    eindb_session_field(value, 'query_start') AS query_start,
    eindb_session_field(value, 'state_change') AS state_change, NULL AS wait_event_type, NULL AS wait_event,
    eindb_session_field(value, 'state') AS state, NULL AS backend_xid, NULL AS backend_xmin, NULL AS query_id,
    eindb_session_field(value, 'query') AS query, 'client backend' AS backend_type
  FROM json_each(eindb_sessions());
CREATE VIEW IF NOT EXISTS pg_catalog.pg_keywords AS
  SELECT key AS word, value AS catcode, NULL AS barelabel,
    CASE value WHEN 'U' THEN 'unreserved' WHEN 'C' THEN 'unreserved (cannot be function or type name)'
      WHEN 'T' THEN 'reserved (can be function or type name)' ELSE 'reserved' END AS catdesc, NULL AS baredesc
  FROM json_each(eindb_keywords());
CREATE TABLE IF NOT EXISTS pg_catalog.eindb_switch(number int PRIMARY KEY, is_on bool);
INSERT OR IGNORE INTO pg_catalog.eindb_switch VALUES (0, 0), (1, 1);
CREATE VIEW IF NOT EXISTS pg_catalog.pg_cursors AS
  SELECT eindb_session_field(cursor.value, 'name') AS name, eindb_session_field(cursor.value, 'statement') AS statement,
    holds.is_on AS is_holdable, binary.is_on AS is_binary, scrolls.is_on AS is_scrollable, NULL AS creation_time
  FROM json_each(eindb_cursors()) AS cursor
  JOIN eindb_switch AS holds ON holds.number = eindb_session_field(cursor.value, 'is_holdable')
  JOIN eindb_switch AS binary ON binary.number = eindb_session_field(cursor.value, 'is_binary')
  JOIN eindb_switch AS scrolls ON scrolls.number = eindb_session_field(cursor.value, 'is_scrollable');
CREATE VIEW IF NOT EXISTS pg_catalog.pg_prepared_statements AS
  SELECT eindb_session_field(value, 'name') AS name, eindb_session_field(value, 'statement') AS statement,
    eindb_session_field(value, 'prepare_time') AS prepare_time,
    (SELECT '{' || coalesce(group_concat(t.sqlname), '') || '}'
      FROM json_each(eindb_session_field(statement.value, 'parameter_types')) p JOIN pg_type t ON t.oid = p.value)
      AS parameter_types, 0 AS from_sql, NULL AS generic_plans, NULL AS custom_plans
  FROM json_each(eindb_statements()) AS statement;
CREATE VIEW IF NOT EXISTS pg_catalog.pg_tables AS
  SELECT n.nspname AS schemaname, c.relname AS tablename, pg_get_userbyid(c.relowner) AS tableowner,
    NULL AS tablespace, c.relhasindex AS hasindexes, c.relhasrules AS hasrules, c.relhastriggers AS hastriggers,
    c.relrowsecurity AS rowsecurity
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p');
CREATE VIEW IF NOT EXISTS pg_catalog.pg_views AS
  SELECT n.nspname AS schemaname, c.relname AS viewname, pg_get_userbyid(c.relowner) AS viewowner, c.definition
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v';
CREATE VIEW IF NOT EXISTS pg_catalog.pg_matviews AS
  SELECT schemaname, viewname AS matviewname, viewowner AS matviewowner, definition FROM pg_views WHERE 0;
CREATE VIEW IF NOT EXISTS pg_catalog.pg_indexes AS
  SELECT n.nspname AS schemaname, c.relname AS tablename, i.relname AS indexname, NULL AS tablespace,
    x.definition AS indexdef
  FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace;
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_schemata AS
  SELECT current_database() AS catalog_name, nspname AS schema_name, pg_get_userbyid(nspowner) AS schema_owner,
    NULL AS default_character_set_catalog, NULL AS default_character_set_schema, NULL AS default_character_set_name,
    NULL AS sql_path FROM pg_namespace;
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_tables AS
  SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
    CASE c.relkind WHEN 'v' THEN 'VIEW' ELSE 'BASE TABLE' END AS table_type, NULL AS self_referencing_column_name,
    NULL AS reference_generation, NULL AS user_defined_type_catalog, NULL AS user_defined_type_schema,
    NULL AS user_defined_type_name, 'NO' AS is_insertable_into, 'NO' AS is_typed, NULL AS commit_action
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v');
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_views AS
  SELECT current_database() AS table_catalog, schemaname AS table_schema, viewname AS table_name,
    definition AS view_definition, 'NONE' AS check_option, 'NO' AS is_updatable, 'NO' AS is_insertable_into
  FROM pg_views;
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_columns AS
  SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
    a.attname AS column_name, a.attnum AS ordinal_position, d.adbin AS column_default,
    CASE a.attnotnull WHEN 1 THEN 'NO' ELSE 'YES' END AS is_nullable,
    CASE WHEN t.typname LIKE '\_%' ESCAPE '\' THEN 'ARRAY' ELSE t.sqlname END AS data_type,
    CASE WHEN t.typname IN ('varchar', 'bpchar') AND a.atttypmod > 4 THEN a.atttypmod - 4 END
      AS character_maximum_length, NULL AS character_octet_length,
    CASE t.typname WHEN 'int8' THEN 64 WHEN 'float4' THEN 24 WHEN 'float8' THEN 53
      WHEN 'numeric' THEN CASE WHEN a.atttypmod > 4 THEN (a.atttypmod - 4) >> 16 END END AS numeric_precision,
    CASE WHEN t.typname IN ('int8', 'float4', 'float8') THEN 2 WHEN t.typname = 'numeric' THEN 10 END
      AS numeric_precision_radix,
    CASE t.typname WHEN 'int8' THEN 0
      WHEN 'numeric' THEN CASE WHEN a.atttypmod > 4 THEN (a.atttypmod - 4) & 65535 END END AS numeric_scale,
    CASE WHEN t.typname = 'date' THEN 0 WHEN t.typname IN ('time', 'timestamp', 'timestamptz', 'interval') THEN 6 END
      AS datetime_precision, NULL AS interval_type,
    NULL AS character_set_name, NULL AS collation_name, NULL AS domain_name,
    current_database() AS udt_catalog, 'pg_catalog' AS udt_schema, t.typname AS udt_name,
    CAST(a.attnum AS TEXT) AS dtd_identifier, 'NO' AS is_self_referencing, 'NO' AS is_identity,
    NULL AS identity_generation, CASE a.attgenerated WHEN '' THEN 'NEVER' ELSE 'ALWAYS' END AS is_generated,
    NULL AS generation_expression, CASE c.relkind WHEN 'r' THEN 'YES' ELSE 'NO' END AS is_updatable
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE c.relkind IN ('r', 'v') AND a.attnum > 0;
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_table_constraints AS
  SELECT current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS constraint_name,
    current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
    CASE k.contype WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' WHEN 'c' THEN 'CHECK' ELSE 'FOREIGN KEY' END
      AS constraint_type,
    'NO' AS is_deferrable, 'NO' AS initially_deferred, 'YES' AS enforced
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace;
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_key_column_usage AS
  SELECT current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS constraint_name,
    current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
    a.attname AS column_name, e.key + 1 AS ordinal_position, NULL AS position_in_unique_constraint
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN json_each(pg_array_json(k.conkey)) e JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = e.value;
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_routines AS
  SELECT current_database() AS specific_catalog, n.nspname AS specific_schema,
    p.proname || '_' || p.oid AS specific_name, current_database() AS routine_catalog, n.nspname AS routine_schema,
    p.proname AS routine_name, 'FUNCTION' AS routine_type, p.prosrc AS routine_definition
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace;
)sql";

const char* const kPgCatalogConstants = R"sql(
INSERT INTO pg_catalog.pg_namespace SELECT column1, column2, 10, NULL FROM
  (VALUES (11, 'pg_catalog'), (2200, 'public'), (13000, 'information_schema'))
  WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace);
INSERT INTO pg_catalog.pg_am SELECT column1, column2, column2 || 'handler', column3 FROM
  (VALUES (2, 'heap', 't'), (403, 'btree', 'i'), (9400, 'tiles', 'i')) WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_am);
INSERT OR IGNORE INTO pg_catalog.pg_language VALUES (14, 'sql', 10, 0, 1, 0, 0, 0, NULL);
INSERT OR IGNORE INTO pg_catalog.pg_tablespace VALUES (1663, 'pg_default', 10, NULL, NULL);
INSERT OR IGNORE INTO pg_catalog.pg_collation VALUES (100, 'default', 11, 10, 'd', 1, -1, NULL, NULL, NULL, NULL),
  (950, 'C', 11, 10, 'c', 1, -1, 'C', 'C', NULL, NULL);
WITH t(oid, name, len, category, array, sqlname) AS (VALUES
    (16, 'bool', 1, 'B', 1000, 'boolean'),
    (17, 'bytea', -1, 'U', 1001, 'bytea'),
    (18, 'char', 1, 'Z', 1002, '"char"'),
    (19, 'name', 64, 'S', 1003, 'name'),
    (20, 'int8', 8, 'N', 1016, 'bigint'),
    (21, 'int2', 2, 'N', 1005, 'smallint'),
    (22, 'int2vector', -1, 'A', 1006, 'int2vector'),
    (23, 'int4', 4, 'N', 1007, 'integer'),
    (24, 'regproc', 4, 'N', 1008, 'regproc'),
    (25, 'text', -1, 'S', 1009, 'text'),
    (26, 'oid', 4, 'N', 1028, 'oid'),
    (114, 'json', -1, 'U', 199, 'json'),
    (700, 'float4', 4, 'N', 1021, 'real'),
    (701, 'float8', 8, 'N', 1022, 'double precision'),
    (705, 'unknown', -2, 'X', 0, 'unknown'),
    (1042, 'bpchar', -1, 'S', 1014, 'character'),
    (1043, 'varchar', -1, 'S', 1015, 'character varying'),
    (1082, 'date', 4, 'D', 1182, 'date'),
    (1083, 'time', 8, 'D', 1183, 'time without time zone'),
    (1114, 'timestamp', 8, 'D', 1115, 'timestamp without time zone'),
    (1184, 'timestamptz', 8, 'D', 1185, 'timestamp with time zone'),
    (1186, 'interval', 16, 'T', 1187, 'interval'),
    (1700, 'numeric', -1, 'N', 1231, 'numeric'),
    (2205, 'regclass', 4, 'N', 2210, 'regclass'),
    (2206, 'regtype', 4, 'N', 2211, 'regtype'),
    (2249, 'record', -1, 'P', 2287, 'record'),
    (2278, 'void', 4, 'P', 0, 'void'),
    (2950, 'uuid', 16, 'U', 2951, 'uuid'),
    (3802, 'jsonb', -1, 'U', 3807, 'jsonb')),
u(oid, name, len, category, array, sqlname, elem) AS (SELECT *, 0 FROM t UNION ALL
  SELECT array, '_' || name, -1, 'A', 0, sqlname || '[]', oid FROM t WHERE array <> 0)
INSERT OR IGNORE INTO pg_catalog.pg_type
  SELECT oid, name, 11, 10, len, len BETWEEN 1 AND 8, CASE category WHEN 'P' THEN 'p' ELSE 'b' END, category, 0, 1,
    ',', 0, NULL, elem, array, CASE elem WHEN 0 THEN name || 'in' ELSE 'array_in' END,
    CASE elem WHEN 0 THEN name || 'out' ELSE 'array_out' END, name || 'recv', name || 'send', '-', '-', '-', 'i',
    CASE WHEN len < 0 THEN 'x' ELSE 'p' END, 0, 0, -1, 0, CASE category WHEN 'S' THEN 100 ELSE 0 END, NULL, NULL,
    NULL, sqlname FROM u;
)sql";

const char* const kPgCatalogContents = R"sql(
DELETE FROM pg_catalog.pg_class;
DELETE FROM pg_catalog.pg_attribute;
DELETE FROM pg_catalog.pg_index;
DELETE FROM pg_catalog.pg_attrdef;
DELETE FROM pg_catalog.pg_constraint;
DELETE FROM pg_catalog.pg_proc;
DELETE FROM pg_catalog.pg_trigger;
DELETE FROM pg_catalog.pg_description;
DELETE FROM pg_catalog.eindb_constraint;

-- Constraints as the texts of tables have them; names of columns in lower case.
INSERT INTO pg_catalog.eindb_constraint
  SELECT 536870912 + s.rowid, json_extract(c.value, '$.type'), json_extract(c.value, '$.name'),
    json_extract(c.value, '$.columns'), json_extract(c.value, '$.text')
  FROM main.sqlite_schema s, json_each(eindb_constraints(s.name, s.sql)) c
  WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND s.name NOT LIKE 'eindb\_%' ESCAPE '\'
    AND s.sql LIKE 'CREATE TABLE%';

-- The schema of temporary tensors is there if they are.
DELETE FROM pg_catalog.pg_namespace WHERE oid = 2201;
INSERT INTO pg_catalog.pg_namespace SELECT 2201, 'pg_temp', 10, NULL
  WHERE EXISTS (SELECT 1 FROM json_each(eindb_temporary_tensors()));

-- Relations: what they are, with their columns, keys and indices still to be counted.
WITH relations(oid, name, namespace, am, kind, definition, bytes) AS (
  SELECT oid, name, 11, 2, 'r', NULL, 0 FROM pg_catalog.eindb_system_table
  UNION ALL
  SELECT 268435456 + json_extract(t.value, '$.id'), json_extract(t.value, '$.name'), json_extract(t.value, '$.namespace'), 2, 'r', NULL,
    coalesce((SELECT CAST(round(exp(sum(ln(json_extract(d.value, '$.extent'))))) AS INTEGER)
      FROM json_each(eindb_dimensions()) d WHERE json_extract(d.value, '$.id') = json_extract(t.value, '$.id')), 1)
    * CASE json_extract(t.value, '$.values') WHEN 'FLOAT32' THEN 4 WHEN 'COMPLEX128' THEN 16 ELSE 8 END
  FROM json_each(eindb_tensors()) t
  UNION ALL
  SELECT 536870912 + rowid, CASE WHEN type = 'index' AND name LIKE 'sqlite\_autoindex\_%' ESCAPE '\'
    THEN coalesce((SELECT c.name FROM main.sqlite_schema t JOIN pg_catalog.eindb_constraint c
      ON c.relation = 536870912 + t.rowid WHERE t.type = 'table' AND t.name = s.tbl_name AND c.type = 'u' AND c.columns =
      (SELECT json_group_array(lower(i.name)) FROM (SELECT name FROM pragma_index_info(s.name) ORDER BY seqno) i)), name)
    ELSE name END, 2200, CASE type WHEN 'index' THEN 403 WHEN 'view' THEN 0 ELSE 2 END,
    CASE type WHEN 'table' THEN 'r' WHEN 'view' THEN 'v' ELSE 'i' END,
    CASE type WHEN 'view' THEN sql END, NULL
  FROM main.sqlite_schema s WHERE type IN ('table', 'view', 'index') AND tbl_name NOT LIKE 'sqlite\_%' ESCAPE '\'
    AND tbl_name NOT LIKE 'eindb\_%' ESCAPE '\'
  UNION ALL
  SELECT 1073741824 + s.rowid, coalesce((SELECT c.name FROM pg_catalog.eindb_constraint c
    WHERE c.relation = 536870912 + s.rowid AND c.type = 'p'), s.name || '_pkey'), 2200, 403, 'i', NULL, 0 FROM main.sqlite_schema s
  WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND s.name NOT LIKE 'eindb\_%' ESCAPE '\'
    AND EXISTS (SELECT 1 FROM json_each(eindb_columns(s.name)) c WHERE json_extract(c.value, '$.pk') > 0))
INSERT INTO pg_catalog.pg_class
  SELECT oid, name, namespace, 0, 0, 10, am, oid, 0, 0, -1, 0, 0, 0, 0, CASE namespace WHEN 2201 THEN 't' ELSE 'p' END, kind, 0, 0, 0, 0, 0, 0, 0, 1, 'd', 0, 0,
    0, 0, NULL, NULL, NULL, definition, bytes FROM relations;
-- An index of SQLite for a primary key has no place beside the key's own.
DELETE FROM pg_catalog.pg_class WHERE oid IN (
  SELECT 536870912 + i.rowid FROM main.sqlite_schema s JOIN pragma_index_list(s.name, 'main') x
    JOIN main.sqlite_schema i ON i.type = 'index' AND i.name = x.name WHERE s.type = 'table' AND x.origin = 'pk');

-- Columns.
INSERT INTO pg_catalog.pg_attribute
  WITH dimensions AS (SELECT json_extract(value, '$.id') AS id, json_extract(value, '$.position') AS position,
    json_extract(value, '$.label') AS label FROM json_each(eindb_dimensions())),
  axes AS (SELECT json_extract(value, '$.id') AS id, json_extract(value, '$.position') AS position
    FROM json_each(eindb_axes())),
  tensors AS (SELECT json_extract(value, '$.id') AS id, json_extract(value, '$.values') AS dtype
    FROM json_each(eindb_tensors())),
  relations AS (SELECT 536870912 + rowid AS oid, name FROM main.sqlite_schema WHERE type IN ('table', 'view')),
  columns(oid, name, type, modifier, number, required, has_default, generated) AS (
    SELECT 268435456 + t.id, d.label, CASE WHEN EXISTS (SELECT 1 FROM axes a WHERE a.id = t.id AND a.position = d.position)
        THEN 25 ELSE 20 END, -1, row_number() OVER (PARTITION BY t.id ORDER BY d.position), 1, 0, ''
      FROM tensors t JOIN dimensions d ON d.id = t.id
    UNION ALL
    SELECT 268435456 + t.id, v.column1, CASE dtype WHEN 'INT64' THEN 20 WHEN 'FLOAT32' THEN 700 WHEN 'COMPLEX64' THEN 700
        ELSE 701 END, -1, v.column2 + (SELECT count(*) FROM dimensions d WHERE d.id = t.id), dtype = 'INT64', 0, ''
      FROM tensors t JOIN (VALUES ('val', 1, 0), ('re', 1, 1), ('im', 2, 1)) v
        ON v.column3 = (dtype LIKE 'COMPLEX%')
    UNION ALL
    SELECT r.oid, json_extract(c.value, '$.name'), eindb_type_oid(coalesce(nullif(json_extract(c.value, '$.type'), ''),
          eindb_view_type(r.name, json_extract(c.value, '$.cid')), '')),
        eindb_type_modifier(json_extract(c.value, '$.type')), json_extract(c.value, '$.cid') + 1, json_extract(c.value, '$.notnull') OR json_extract(c.value, '$.pk') > 0,
        json_extract(c.value, '$.default') IS NOT NULL OR json_extract(c.value, '$.generated'),
        CASE json_extract(c.value, '$.generated') WHEN 1 THEN 's' ELSE '' END
      FROM relations r JOIN pg_catalog.pg_class k ON k.oid = r.oid, json_each(eindb_columns(r.name)) c)
  SELECT c.oid, c.name, c.type, -1, t.typlen, c.number, t.typelem <> 0, -1, c.modifier, t.typbyval, t.typalign, t.typstorage, '',
    c.required, c.has_default, 0, '', c.generated, 0, 1, 0, t.typcollation, NULL, NULL, NULL, NULL
  FROM columns c JOIN pg_catalog.pg_type t ON t.oid = c.type;
INSERT INTO pg_catalog.pg_attrdef
  SELECT 1342177280 + a.attrelid % 65536 * 2048 + a.attnum, a.attrelid, a.attnum, coalesce(eindb_as_written(json_extract(c.value, '$.default')),
    (SELECT g.definition FROM pg_catalog.eindb_constraint g WHERE g.relation = a.attrelid AND g.type = 'g'
      AND g.columns = json_array(lower(a.attname))))
  FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class r ON r.oid = a.attrelid,
    json_each(eindb_columns(r.relname)) c
  WHERE a.atthasdef AND json_extract(c.value, '$.cid') = a.attnum - 1;

-- Indices: of primary keys, and SQLite's others.
WITH keys(oid, relation, uniq, prim, columns, count, name, names, predicate, expressions) AS (
  SELECT i.oid, 536870912 + s.rowid, 1, 1, (SELECT group_concat(number, ' ') FROM (
      SELECT json_extract(c.value, '$.cid') + 1 AS number FROM json_each(eindb_columns(s.name)) c
      WHERE json_extract(c.value, '$.pk') > 0 ORDER BY json_extract(c.value, '$.pk'))),
    (SELECT count(*) FROM json_each(eindb_columns(s.name)) c WHERE json_extract(c.value, '$.pk') > 0), i.relname,
    (SELECT group_concat(quote_ident(name), ', ') FROM (
      SELECT json_extract(c.value, '$.name') AS name FROM json_each(eindb_columns(s.name)) c
      WHERE json_extract(c.value, '$.pk') > 0 ORDER BY json_extract(c.value, '$.pk'))), NULL, NULL
  FROM main.sqlite_schema s JOIN pg_catalog.pg_class i ON i.oid = 1073741824 + s.rowid WHERE s.type = 'table'
  UNION ALL
  SELECT i.oid, t.oid, x."unique", 0, (SELECT group_concat(CASE WHEN cid < 0 THEN 0 ELSE cid + 1 END, ' ')
      FROM pragma_index_info(x.name)), (SELECT count(*) FROM pragma_index_info(x.name)), i.relname,
    (SELECT group_concat(coalesce(quote_ident(name), 'expression'), ', ') FROM pragma_index_info(x.name)),
    CASE x.partial WHEN 1 THEN eindb_as_written(substr(s.sql, instr(upper(s.sql), ' WHERE ') + 7)) END,
    CASE WHEN EXISTS (SELECT 1 FROM pragma_index_info(x.name) WHERE cid = -2) THEN eindb_as_written(substr(s.sql, instr(s.sql, '('))) END
  FROM pg_catalog.pg_class t JOIN pragma_index_list(t.relname, 'main') x
    JOIN main.sqlite_schema s ON s.type = 'index' AND s.name = x.name
    JOIN pg_catalog.pg_class i ON i.oid = 536870912 + s.rowid
  WHERE t.relkind = 'r' AND t.oid BETWEEN 536870912 AND 1073741823)
INSERT INTO pg_catalog.pg_index
  SELECT k.oid, relation, count, count, uniq, 0, prim, 0, 1, 0, 1, 0, 1, 1, 0, columns, '0', '0',
    rtrim(replace(hex(zeroblob(count)), '00', '0 ')), expressions, predicate,
    'CREATE ' || CASE uniq WHEN 1 THEN 'UNIQUE ' ELSE '' END || 'INDEX ' || quote_ident(name) || ' ON public.'
    || quote_ident(r.relname) || ' USING btree '
    || coalesce(expressions, '(' || names || ')' || coalesce(' WHERE ' || predicate, ''))
  FROM keys k JOIN pg_catalog.pg_class r ON r.oid = k.relation;
INSERT OR IGNORE INTO pg_catalog.pg_attribute
  SELECT x.indexrelid, coalesce(a.attname, 'expr'), coalesce(a.atttypid, 25), -1, coalesce(a.attlen, -1), e.key + 1, 0, -1,
    -1, 0, 'i', 'p', '', 0, 0, 0, '', '', 0, 1, 0, 0, NULL, NULL, NULL, NULL
  FROM pg_catalog.pg_index x, json_each(pg_array_json(x.indkey)) e
    LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = e.value;

-- Constraints: primary keys, UNIQUE, foreign keys.
INSERT INTO pg_catalog.pg_constraint
  SELECT x.indexrelid, c.relname, 2200, CASE x.indisprimary WHEN 1 THEN 'p' ELSE 'u' END, 0, 0, 1, x.indrelid, 0,
    x.indexrelid, 0, 0, ' ', ' ', ' ', 1, 0, 1, '{' || replace(x.indkey, ' ', ',') || '}', NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, CASE x.indisprimary WHEN 1 THEN 'PRIMARY KEY ' ELSE 'UNIQUE ' END
    || substr(x.definition, instr(x.definition, ' USING btree ') + 13)
  FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class c ON c.oid = x.indexrelid
  WHERE x.indisprimary OR EXISTS (SELECT 1 FROM main.sqlite_schema s WHERE s.rowid = c.oid - 536870912
    AND s.name LIKE 'sqlite\_autoindex\_%' ESCAPE '\');
INSERT INTO pg_catalog.pg_constraint
  SELECT 1879048192 + c.relation % 1048576 * 256 + row_number() OVER (PARTITION BY c.relation), c.name, 2200, 'c', 0, 0, 1,
    c.relation, 0, 0, 0, 0, ' ', ' ', ' ', 1, 0, 0, (SELECT '{' || group_concat(a.attnum) || '}' FROM json_each(c.columns) e
      JOIN pg_catalog.pg_attribute a ON a.attrelid = c.relation AND a.attname = e.value COLLATE NOCASE), NULL, NULL, NULL,
    NULL, NULL, NULL, c.definition, 'CHECK ((' || c.definition || '))'
  FROM pg_catalog.eindb_constraint c WHERE c.type = 'c';
WITH actions(word, letter) AS (VALUES ('NO ACTION', 'a'), ('RESTRICT', 'r'), ('CASCADE', 'c'), ('SET NULL', 'n'),
  ('SET DEFAULT', 'd')),
columns AS (SELECT t.oid AS relation, t.relname AS name, f.id, f.seq, f."table" AS target, f."from" AS own,
    coalesce(f."to", (SELECT p.attname FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class r ON r.oid = x.indrelid,
      json_each(pg_array_json(x.indkey)) e JOIN pg_catalog.pg_attribute p ON p.attrelid = r.oid AND p.attnum = e.value
      WHERE x.indisprimary AND r.relname = f."table" COLLATE NOCASE AND e.key = f.seq)) AS theirs,
    f.on_update, f.on_delete
  FROM pg_catalog.pg_class t JOIN pragma_foreign_key_list(t.relname, 'main') f
  WHERE t.relkind = 'r' AND t.oid BETWEEN 536870912 AND 1073741823),
named AS (SELECT k.*, a.attnum AS own_number, b.attnum AS their_number, r.oid AS target_oid, r.relname AS target_name
  FROM columns k JOIN pg_catalog.pg_class r ON r.relname = k.target COLLATE NOCASE AND r.relkind = 'r'
    JOIN pg_catalog.pg_attribute a ON a.attrelid = k.relation AND a.attname = k.own COLLATE NOCASE
    JOIN pg_catalog.pg_attribute b ON b.attrelid = r.oid AND b.attname = k.theirs COLLATE NOCASE),
keys AS (SELECT relation, name, id, seq, target_oid, target_name, on_update, on_delete,
    group_concat(own_number) OVER w AS own_numbers, group_concat(their_number) OVER w AS their_numbers,
    group_concat(quote_ident(own), ', ') OVER w AS owns, group_concat(quote_ident(theirs), ', ') OVER w AS others,
    json_group_array(lower(own)) OVER w AS columns, group_concat(own, '_') OVER w AS joined
  FROM named WINDOW w AS (PARTITION BY relation, id ORDER BY seq
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING))
INSERT INTO pg_catalog.pg_constraint
  SELECT 1610612736 + k.relation % 1048576 * 256 + k.id, coalesce((SELECT c.name FROM pg_catalog.eindb_constraint c
      WHERE c.relation = k.relation AND c.type = 'f' AND c.columns = k.columns LIMIT 1), k.name || '_' || k.joined || '_fkey'),
    2200, 'f', 0, 0, 1, k.relation, 0, coalesce((SELECT x.indexrelid FROM pg_catalog.pg_index x
      WHERE x.indrelid = k.target_oid ORDER BY x.indisprimary DESC LIMIT 1), 0), 0, k.target_oid,
    (SELECT letter FROM actions WHERE word = k.on_update), (SELECT letter FROM actions WHERE word = k.on_delete), 's',
    1, 0, 1, '{' || k.own_numbers || '}', '{' || k.their_numbers || '}', NULL, NULL, NULL, NULL, NULL,
    NULL, 'FOREIGN KEY (' || k.owns || ') REFERENCES ' || quote_ident(k.target_name) || '(' || k.others || ')'
    || CASE k.on_update WHEN 'NO ACTION' THEN '' ELSE ' ON UPDATE ' || k.on_update END
    || CASE k.on_delete WHEN 'NO ACTION' THEN '' ELSE ' ON DELETE ' || k.on_delete END
  FROM keys k WHERE k.seq = 0;

-- Comments, whose objects may be gone.
INSERT INTO pg_catalog.pg_description
  SELECT r.oid, 1259, coalesce(a.attnum, 0), json_extract(c.value, '$.text')
  FROM json_each(eindb_comments()) c
    JOIN pg_catalog.pg_class r ON r.relname = json_extract(c.value, '$.object') COLLATE NOCASE AND r.relnamespace = 2200
    LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = r.oid AND a.attname = json_extract(c.value, '$.column') COLLATE NOCASE
  WHERE json_extract(c.value, '$.column') = '' OR a.attnum IS NOT NULL;

-- Macros are functions.
INSERT INTO pg_catalog.pg_proc
  SELECT 805306368 + json_extract(value, '$.id'), json_extract(value, '$.name'), 2200, 10, 14, 1, 0, 0, '-', 'f', 0, 0, 0,
    0, 'i', 's', 0, 0, 701, '', NULL, NULL, NULL, NULL, NULL, json_extract(value, '$.definition'), NULL, NULL, NULL,
    NULL, replace(substr(json_extract(value, '$.definition'), instr(json_extract(value, '$.definition'), '(') + 1,
      instr(json_extract(value, '$.definition'), ')') - instr(json_extract(value, '$.definition'), '(') - 1), '"', '')
  FROM json_each(eindb_macros());
-- What PostgreSQL has of the schema public, so that pg_dump has nothing to say of it.
INSERT INTO pg_catalog.pg_description VALUES (2200, 2615, 0, 'standard public schema');
UPDATE pg_catalog.pg_namespace SET nspacl = (SELECT '{' || name || '=UC/' || name || ',=U/' || name || '}' FROM (
    SELECT CASE WHEN current_user() GLOB '*[^A-Za-z0-9_]*' THEN '"\"' || replace(current_user(), '"', '\"\"') || '\""'
      ELSE current_user() END AS name)) WHERE oid = 2200;
-- PostgreSQL has no macros: pg_dump leaves out functions that belong to something else.
DELETE FROM pg_catalog.pg_depend;
INSERT INTO pg_catalog.pg_depend SELECT 1255, oid, 0, 2612, 14, 0, 'i' FROM pg_catalog.pg_proc;
-- What a view may read, by its text: pg_dump writes these before it.
INSERT INTO pg_catalog.pg_depend
  SELECT 1259, v.oid, 0, 1259, r.oid, 0, 'n' FROM pg_catalog.pg_class v JOIN pg_catalog.pg_class r
    ON r.relnamespace = 2200 AND (r.relkind = 'r' OR (r.relkind = 'v' AND r.oid < v.oid))
    AND instr(lower(v.definition), lower(r.relname)) > 0
  WHERE v.relkind = 'v';
INSERT INTO pg_catalog.pg_trigger
  SELECT 536870912 + s.rowid, c.oid, 0, s.name, 0, 0, 'O', 0, 0, 0, 0, 0, 0, 0, '', NULL, NULL, NULL, NULL, s.sql
  FROM main.sqlite_schema s JOIN pg_catalog.pg_class c ON c.relname = s.tbl_name AND c.relkind IN ('r', 'v')
  WHERE s.type = 'trigger';

-- What relations have.
UPDATE pg_catalog.pg_class SET
  relnatts = (SELECT count(*) FROM pg_catalog.pg_attribute a WHERE a.attrelid = pg_class.oid),
  relchecks = (SELECT count(*) FROM pg_catalog.pg_constraint k WHERE k.conrelid = pg_class.oid AND k.contype = 'c'),
  relhasindex = EXISTS (SELECT 1 FROM pg_catalog.pg_index i WHERE i.indrelid = pg_class.oid),
  -- PostgreSQL enforces foreign keys by triggers, and psql shows them only for tables with some.
  relhastriggers = EXISTS (SELECT 1 FROM pg_catalog.pg_trigger t WHERE t.tgrelid = pg_class.oid) OR EXISTS
    (SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.contype = 'f' AND pg_class.oid IN (k.conrelid, k.confrelid));
)sql";

}  // namespace eindb
