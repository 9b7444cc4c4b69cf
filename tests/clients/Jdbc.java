// Checks PostgreSQL's JDBC driver at a server of eindb: java -cp postgresql.jar Jdbc.java URL.

import java.io.StringReader;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;

public class Jdbc {
  interface Check {
    void run() throws Exception;
  }

  static String url;
  static int failures = 0;

  static void check(String name, Check check) {
    try {
      check.run();
      System.out.println("ok " + name);
    } catch (Throwable error) {
      ++failures;
      System.out.println("failed " + name + ": " + String.valueOf(error.getMessage()).replace('\n', ' '));
    }
  }

  static void expect(Object actual, Object expected) {
    if (!Objects.equals(actual, expected))
      throw new AssertionError("expected " + expected + ", found " + actual);
  }

  static void expectState(String state, Check check) throws Exception {
    try {
      check.run();
    } catch (SQLException error) {
      expect(error.getSQLState() + ": " + error.getMessage(), state + ": " + error.getMessage());
      return;
    }
    throw new AssertionError("expected the error " + state);
  }

  static Connection connect(String... options) throws SQLException {
    return DriverManager.getConnection(url + "&" + String.join("&", options));
  }

  /** The rows of a result, each column by getString, those named or all. */
  static List<List<String>> rows(ResultSet result, String... columns) throws SQLException {
    List<List<String>> rows = new ArrayList<>();
    ResultSetMetaData meta = result.getMetaData();
    while (result.next()) {
      List<String> row = new ArrayList<>();
      if (columns.length == 0)
        for (int i = 1; i <= meta.getColumnCount(); ++i) row.add(result.getString(i));
      for (String column : columns) row.add(result.getString(column));
      rows.add(row);
    }
    return rows;
  }

  static List<List<String>> query(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      return rows(statement.executeQuery(sql));
    }
  }

  static void run(Connection connection, String... statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements) statement.execute(sql);
    }
  }

  static List<String> row(String... values) {
    return Arrays.asList(values);
  }

  static void metadata(Connection c) throws Exception {
    DatabaseMetaData meta = c.getMetaData();
    check("product", () -> expect(meta.getDatabaseProductName(), "PostgreSQL"));
    check("getSchemas", () -> {
      List<List<String>> schemas = rows(meta.getSchemas(), "TABLE_SCHEM");
      if (!schemas.contains(row("public"))) throw new AssertionError(schemas);
    });
    check("getCatalogs", () -> expect(rows(meta.getCatalogs()).size() > 0, true));
    check("getTableTypes", () -> expect(rows(meta.getTableTypes()).contains(row("TABLE")), true));
    check("getTypeInfo", () -> expect(rows(meta.getTypeInfo()).size() > 10, true));
    check("getTables", () -> expect(
        rows(meta.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"}), "TABLE_NAME", "TABLE_TYPE"),
        List.of(row("C", "TABLE"), row("X", "TABLE"), row("child", "TABLE"), row("notes", "TABLE"),
            row("titles", "VIEW"))));
    check("getTables remarks", () -> {
      run(c, "COMMENT ON TABLE notes IS 'What is noted'");
      expect(rows(meta.getTables(null, "public", "notes", null), "REMARKS"), List.of(row("What is noted")));
    });
    check("getColumns", () -> expect(
        rows(meta.getColumns(null, "public", "notes", "%"), "COLUMN_NAME", "TYPE_NAME", "IS_NULLABLE",
            "ORDINAL_POSITION"),
        List.of(row("id", "int8", "NO", "1"), row("title", "text", "NO", "2"), row("score", "float8", "YES", "3"))));
    check("getColumns of a tensor", () -> expect(
        rows(meta.getColumns(null, null, "X", null), "COLUMN_NAME", "TYPE_NAME", "DATA_TYPE"),
        List.of(row("i", "int8", "" + Types.BIGINT), row("j", "int8", "" + Types.BIGINT),
            row("val", "float4", "" + Types.REAL))));
    check("getPrimaryKeys", () -> expect(
        rows(meta.getPrimaryKeys(null, "public", "child"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME"),
        List.of(row("a", "1", "child_pkey"), row("b", "2", "child_pkey"))));
    check("getImportedKeys", () -> expect(
        rows(meta.getImportedKeys(null, "public", "child"), "PKTABLE_NAME", "PKCOLUMN_NAME", "FKCOLUMN_NAME"),
        List.of(row("notes", "id", "note"))));
    check("getExportedKeys", () -> expect(
        rows(meta.getExportedKeys(null, "public", "notes"), "FKTABLE_NAME", "FKCOLUMN_NAME"),
        List.of(row("child", "note"))));
    check("getCrossReference", () -> expect(
        rows(meta.getCrossReference(null, null, "notes", null, null, "child"), "FKCOLUMN_NAME"),
        List.of(row("note"))));
    check("getIndexInfo", () -> expect(
        rows(meta.getIndexInfo(null, "public", "notes", false, true), "INDEX_NAME", "NON_UNIQUE", "COLUMN_NAME"),
        List.of(row("notes_pkey", "f", "id"), row("notes_title", "t", "title"))));
    check("getBestRowIdentifier", () -> expect(
        rows(meta.getBestRowIdentifier(null, "public", "child", 0, true), "COLUMN_NAME"),
        List.of(row("a"), row("b"))));
    check("getFunctions", () -> expect(
        rows(meta.getFunctions(null, "public", "%"), "FUNCTION_NAME"), List.of(row("clip"))));
    check("getFunctionColumns", () -> rows(meta.getFunctionColumns(null, "public", "%", "%")));
    check("getProcedures", () -> expect(rows(meta.getProcedures(null, "public", "%")), List.of()));
    check("getTablePrivileges", () -> rows(meta.getTablePrivileges(null, "public", "notes")));
    check("getColumnPrivileges", () -> rows(meta.getColumnPrivileges(null, "public", "notes", "%")));
    check("getUDTs", () -> expect(rows(meta.getUDTs(null, "public", "%", null)), List.of()));
    check("getClientInfoProperties", () -> rows(meta.getClientInfoProperties()));
    check("getSQLKeywords", () -> expect(meta.getSQLKeywords().length() > 100, true));
    check("getMaxColumnNameLength", () -> expect(meta.getMaxColumnNameLength(), 63));
  }

  static void prepared(Connection c) throws Exception {
    check("prepared in binary after five executions", () -> {
      try (PreparedStatement p = c.prepareStatement("SELECT id, title, score FROM notes WHERE id = ?")) {
        for (int n = 0; n < 12; ++n) {
          p.setInt(1, n % 2 + 1);
          ResultSet found = p.executeQuery();
          expect(found.next(), true);
          expect(found.getLong(1), n % 2 + 1L);
          expect(found.getString(2), n % 2 == 0 ? "one" : "two");
          expect(found.getDouble(3), n % 2 == 0 ? 1.5 : 2.5);
        }
        expect(((PGStatement) p).isUseServerPrepare(), true);
      }
    });
    check("parameters of all types", () -> {
      try (PreparedStatement p = c.prepareStatement("SELECT ?::bigint, ?::double precision, ?::text, ?::boolean")) {
        for (int n = 0; n < 7; ++n) {
          p.setLong(1, Long.MAX_VALUE);
          p.setDouble(2, 0.1);
          p.setString(3, "\u00e4'\"");
          p.setBoolean(4, true);
          ResultSet found = p.executeQuery();
          found.next();
          expect(found.getLong(1), Long.MAX_VALUE);
          expect(found.getDouble(2), 0.1);
          expect(found.getString(3), "\u00e4'\"");
          expect(found.getBoolean(4), true);
        }
      }
    });
    check("NULL parameters", () -> {
      try (PreparedStatement p = c.prepareStatement("SELECT ?::bigint, ?::text")) {
        p.setNull(1, Types.BIGINT);
        p.setNull(2, Types.VARCHAR);
        ResultSet found = p.executeQuery();
        found.next();
        expect(found.getObject(1), null);
        expect(found.getString(2), null);
      }
    });
    check("array parameter", () -> {
      try (PreparedStatement p = c.prepareStatement("SELECT title FROM notes WHERE id = ANY(?) ORDER BY 1")) {
        p.setArray(1, c.createArrayOf("int8", new Object[] {1L, 2L}));
        expect(rows(p.executeQuery()), List.of(row("one"), row("two")));
      }
    });
    check("bytes", () -> {
      run(c, "CREATE TABLE bytes(b BYTEA)");
      try (PreparedStatement p = c.prepareStatement("INSERT INTO bytes VALUES (?)")) {
        p.setBytes(1, new byte[] {0, 1, (byte) 255});
        expect(p.executeUpdate(), 1);
      }
      try (Statement s = c.createStatement()) {
        ResultSet found = s.executeQuery("SELECT b FROM bytes");
        found.next();
        expect(Arrays.toString(found.getBytes(1)), "[0, 1, -1]");
      }
    });
    check("ParameterMetaData", () -> {
      try (PreparedStatement p = c.prepareStatement("SELECT title FROM notes WHERE id = ?::bigint")) {
        expect(p.getParameterMetaData().getParameterCount(), 1);
        expect(p.getParameterMetaData().getParameterTypeName(1), "int8");
      }
    });
    check("ResultSetMetaData", () -> {
      try (PreparedStatement p = c.prepareStatement("SELECT id, title, score FROM notes")) {
        ResultSetMetaData meta = p.getMetaData();
        expect(meta.getColumnCount(), 3);
        expect(meta.getColumnName(2), "title");
        expect(meta.getColumnTypeName(1), "int8");
        expect(meta.getColumnType(3), Types.DOUBLE);
      }
    });
    check("maxRows", () -> {
      try (Statement s = c.createStatement()) {
        s.setMaxRows(1);
        expect(rows(s.executeQuery("SELECT id FROM notes ORDER BY id")), List.of(row("1")));
      }
    });
    check("BigDecimal", () -> {
      try (PreparedStatement p = c.prepareStatement("SELECT id FROM notes WHERE score = ?")) {
        p.setBigDecimal(1, new BigDecimal("2.5"));
        expect(rows(p.executeQuery()), List.of(row("2")));
      }
    });
    check("setObject", () -> {
      try (PreparedStatement p = c.prepareStatement("SELECT id FROM notes WHERE title = ? AND id = ?")) {
        p.setObject(1, "two");
        p.setObject(2, 2);
        expect(rows(p.executeQuery()), List.of(row("2")));
      }
    });
  }

  static void writes(Connection c) throws Exception {
    check("batch", () -> {
      run(c, "CREATE TABLE batch(n INTEGER PRIMARY KEY, t TEXT)");
      try (PreparedStatement p = c.prepareStatement("INSERT INTO batch VALUES (?, ?)")) {
        for (int n = 0; n < 1000; ++n) {
          p.setInt(1, n);
          p.setString(2, "row " + n);
          p.addBatch();
        }
        int[] counts = p.executeBatch();
        expect(counts.length, 1000);
        expect(counts[999], 1);
      }
      expect(query(c, "SELECT count(*), max(n) FROM batch"), List.of(row("1000", "999")));
    });
    check("reWriteBatchedInserts", () -> {
      try (Connection d = connect("reWriteBatchedInserts=true");
           PreparedStatement p = d.prepareStatement("INSERT INTO batch VALUES (?, ?)")) {
        for (int n = 1000; n < 1100; ++n) {
          p.setInt(1, n);
          p.setString(2, "row");
          p.addBatch();
        }
        p.executeBatch();
      }
      expect(query(c, "SELECT count(*) FROM batch"), List.of(row("1100")));
    });
    check("batch with an error", () -> {
      try (Statement s = c.createStatement()) {
        s.addBatch("INSERT INTO batch VALUES (5000, 'x')");
        s.addBatch("INSERT INTO batch VALUES (1, 'there')");
        s.executeBatch();
        throw new AssertionError("a batch with a duplicate key was run");
      } catch (BatchUpdateException error) {
        expect(error.getNextException().getSQLState(), "23505");
      }
    });
    check("generated keys", () -> {
      run(c, "CREATE TABLE made(id SERIAL PRIMARY KEY, t TEXT)");
      try (PreparedStatement p =
               c.prepareStatement("INSERT INTO made(t) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
        p.setString(1, "first");
        expect(p.executeUpdate(), 1);
        ResultSet keys = p.getGeneratedKeys();
        expect(keys.next(), true);
        expect(keys.getLong("id"), 1L);
      }
      try (PreparedStatement p = c.prepareStatement("INSERT INTO made(t) VALUES ('second')", new String[] {"id"})) {
        p.executeUpdate();
        expect(rows(p.getGeneratedKeys()), List.of(row("2")));
      }
    });
    check("CopyManager in", () -> {
      run(c, "CREATE TABLE copied(n INTEGER, t TEXT)");
      long count = c.unwrap(PGConnection.class).getCopyAPI()
          .copyIn("COPY copied FROM STDIN (FORMAT csv)", new StringReader("1,a\n2,b\n"));
      expect(count, 2L);
    });
    check("CopyManager out", () -> {
      StringWriter out = new StringWriter();
      c.unwrap(PGConnection.class).getCopyAPI().copyOut("COPY copied TO STDOUT", out);
      expect(out.toString(), "1\ta\n2\tb\n");
    });
  }

  static void transactions(Connection c) throws Exception {
    check("rollback", () -> {
      c.setAutoCommit(false);
      run(c, "INSERT INTO copied VALUES (3, 'c')");
      c.rollback();
      c.setAutoCommit(true);
      expect(query(c, "SELECT count(*) FROM copied"), List.of(row("2")));
    });
    check("savepoints", () -> {
      c.setAutoCommit(false);
      run(c, "INSERT INTO copied VALUES (3, 'c')");
      Savepoint savepoint = c.setSavepoint("here");
      run(c, "INSERT INTO copied VALUES (4, 'd')");
      c.rollback(savepoint);
      c.commit();
      c.setAutoCommit(true);
      expect(query(c, "SELECT count(*) FROM copied"), List.of(row("3")));
    });
    check("setReadOnly", () -> {
      try (Connection d = connect()) {
        d.setReadOnly(true);
        d.setAutoCommit(false);
        expect(query(d, "SELECT count(*) FROM copied"), List.of(row("3")));
        expectState("25006", () -> run(d, "INSERT INTO copied VALUES (5, 'e')"));
        d.rollback();
      }
    });
    check("setReadOnly with autocommit, readOnlyMode=always", () -> {
      try (Connection d = connect("readOnlyMode=always")) {
        d.setReadOnly(true);
        expectState("25006", () -> run(d, "INSERT INTO copied VALUES (5, 'e')"));
      }
    });
    check("failed transaction", () -> {
      try (Connection d = connect()) {
        d.setAutoCommit(false);
        expectState("42P01", () -> query(d, "SELECT * FROM absent"));
        expectState("25P02", () -> query(d, "SELECT 1"));
        d.rollback();
        expect(query(d, "SELECT 1"), List.of(row("1")));
      }
    });
    check("autosave=always", () -> {
      try (Connection d = connect("autosave=always")) {
        d.setAutoCommit(false);
        run(d, "INSERT INTO copied VALUES (6, 'f')");
        expectState("42P01", () -> query(d, "SELECT * FROM absent"));
        run(d, "INSERT INTO copied VALUES (7, 'g')");
        d.commit();
      }
      expect(query(c, "SELECT n FROM copied WHERE n > 5 ORDER BY n"), List.of(row("6"), row("7")));
    });
    check("isolation levels", () -> {
      c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
      expect(c.getTransactionIsolation(), Connection.TRANSACTION_SERIALIZABLE);
    });
    check("fetch size", () -> {
      c.setAutoCommit(false);
      try (Statement s = c.createStatement()) {
        s.setFetchSize(7);
        ResultSet found = s.executeQuery("SELECT n FROM batch ORDER BY n");
        int count = 0;
        while (found.next()) expect(found.getInt(1), count++);
        expect(count, 1100);
      }
      c.commit();
      c.setAutoCommit(true);
    });
    check("scrolling", () -> {
      try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY)) {
        ResultSet found = s.executeQuery("SELECT n FROM batch ORDER BY n");
        found.last();
        expect(found.getRow(), 1100);
        found.absolute(3);
        expect(found.getInt(1), 2);
      }
    });
  }

  static void session(Connection c) throws Exception {
    check("schema", () -> {
      expect(c.getSchema(), "public");
      c.setSchema("public");
    });
    check("catalog", () -> expect(c.getCatalog(), "s"));
    check("isValid", () -> expect(c.isValid(10), true));
    check("application name", () -> {
      c.setClientInfo("ApplicationName", "checks");
      expect(query(c, "SHOW application_name"), List.of(row("checks")));
    });
    check("cancel by a timeout", () -> {
      try (Statement s = c.createStatement()) {
        s.setQueryTimeout(1);
        expectState("57014", () -> s.executeQuery(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"));
      }
      expect(query(c, "SELECT 1"), List.of(row("1")));
    });
    check("call escape", () -> expect(query(c, "SELECT {fn upper('a')}, {fn concat('a', 'b')}"),
        List.of(row("A", "ab"))));
    check("simple query mode", () -> {
      try (Connection d = connect("preferQueryMode=simple");
           PreparedStatement p = d.prepareStatement("SELECT title FROM notes WHERE id = ?")) {
        p.setInt(1, 2);
        expect(rows(p.executeQuery()), List.of(row("two")));
      }
    });
    check("errors have places", () -> expectState("42703", () -> query(c, "SELECT tittle FROM notes")));
  }

  static void tensors(Connection c) throws Exception {
    check("EINSUM", () -> expect(query(c, "EINSUM Z[i] = SUM(X[i,j])"),
        List.of(row("0", "3"), row("1", "11"), row("2", "19"))));
    check("a tensor's rows", () -> expect(query(c, "SELECT i, j, val FROM X WHERE i = 1 AND j = 2"),
        List.of(row("1", "2", "3"))));
    check("a prepared EINSUM", () -> {
      try (PreparedStatement p = c.prepareStatement("EINSUM Z[i] = SUM(X[i,j]) * ?")) {
        for (int n = 0; n < 7; ++n) {
          p.setDouble(1, 2);
          ResultSet found = p.executeQuery();
          found.next();
          expect(found.getDouble(2), 6.0);
        }
      }
    });
    check("CREATE TENSOR and INSERT", () -> {
      run(c, "CREATE TENSOR made_here (i 2)");
      try (PreparedStatement p = c.prepareStatement("INSERT INTO TENSOR made_here VALUES (?, ?)")) {
        p.setLong(1, 1);
        p.setDouble(2, 7.5);
        p.executeUpdate();
      }
      expect(query(c, "SELECT val FROM made_here WHERE i = 1"), List.of(row("7.5")));
    });
    check("EXPLAIN", () -> {
      try (Statement s = c.createStatement()) {
        ResultSet plan = s.executeQuery("EXPLAIN SELECT * FROM notes");
        expect(plan.getMetaData().getColumnName(1), "QUERY PLAN");
        expect(rows(plan).size() > 0, true);
      }
    });
  }

  public static void main(String[] arguments) throws Exception {
    url = arguments[0];
    try (Connection c = connect()) {
      System.out.println("version " + c.getMetaData().getDriverVersion());
      metadata(c);
      prepared(c);
      writes(c);
      transactions(c);
      session(c);
      tensors(c);
    }
    System.exit(failures == 0 ? 0 : 1);
  }
}
