// Checks Go's driver lib/pq at a server of eindb: checks_pq PORT VERSION.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/lib/pq"
)

var failures = 0

func check(name string, body func() error) {
	if err := body(); err != nil {
		failures++
		fmt.Printf("failed %s: %s\n", name, strings.ReplaceAll(err.Error(), "\n", " "))
		return
	}
	fmt.Printf("ok %s\n", name)
}

func expect(actual, expected interface{}) error {
	if reflect.DeepEqual(actual, expected) {
		return nil
	}
	return fmt.Errorf("expected %v, found %v", expected, actual)
}

// first is the first error, if any.
func first(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

func texts(db *sql.DB, query string, arguments ...interface{}) ([]string, error) {
	rows, err := db.Query(query, arguments...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		found = append(found, text)
	}
	return found, rows.Err()
}

func run(db *sql.DB, statements ...string) error {
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			return err
		}
	}
	return nil
}

func count(db *sql.DB, table string) int {
	number := -1
	_ = db.QueryRow("SELECT count(*) FROM " + table).Scan(&number)
	return number
}

func state(err error) string {
	var failed *pq.Error
	if errors.As(err, &failed) {
		return string(failed.Code)
	}
	return fmt.Sprint(err)
}

func reads(db *sql.DB) {
	check("rows", func() error {
		found, err := texts(db, "SELECT title FROM notes ORDER BY id")
		return first(err, expect(found, []string{"one", "two"}))
	})
	check("parameters", func() error {
		found, err := texts(db, "SELECT title FROM notes WHERE id = $1 AND score = $2 AND title = $3", 2, 2.5, "two")
		return first(err, expect(found, []string{"two"}))
	})
	check("values of all types", func() error {
		var number int64
		var real float64
		var text string
		var truth bool
		var bytes []byte
		var null sql.NullString
		err := db.QueryRow("SELECT $1::bigint, $2::float8, $3::text, $4::boolean, $5::bytea, $6::text",
			int64(1)<<62, 0.1, "ä'", true, []byte{0, 255}, nil).Scan(&number, &real, &text, &truth, &bytes, &null)
		return first(err, expect(number, int64(1)<<62), expect(real, 0.1), expect(text, "ä'"), expect(truth, true),
			expect(bytes, []byte{0, 255}), expect(null.Valid, false))
	})
	check("array parameters", func() error {
		found, err := texts(db, "SELECT title FROM notes WHERE id = ANY($1) ORDER BY id", pq.Array([]int64{1, 2}))
		return first(err, expect(found, []string{"one", "two"}))
	})
	check("prepared statements", func() error {
		statement, err := db.Prepare("SELECT title FROM notes WHERE id = $1")
		if err != nil {
			return err
		}
		defer statement.Close()
		var title string
		err = statement.QueryRow(1).Scan(&title)
		return first(err, expect(title, "one"))
	})
	check("column types", func() error {
		rows, err := db.Query("SELECT id, title, score FROM notes")
		if err != nil {
			return err
		}
		defer rows.Close()
		types, err := rows.ColumnTypes()
		if err != nil {
			return err
		}
		var names []string
		for _, column := range types {
			names = append(names, column.DatabaseTypeName())
		}
		return expect(names, []string{"INT8", "TEXT", "FLOAT8"})
	})
	check("EINSUM", func() error {
		var i int
		var sum float64
		err := db.QueryRow("EINSUM Z[i] = SUM(X[i,j]) * $1", 2.0).Scan(&i, &sum)
		return first(err, expect(sum, 6.0))
	})
	check("rows of a tensor", func() error {
		var value float64
		err := db.QueryRow("SELECT val FROM X WHERE i = $1 AND j = $2", 1, 2).Scan(&value)
		return first(err, expect(value, 3.0))
	})
}

func writes(db *sql.DB) {
	check("Exec and RowsAffected", func() error {
		if err := run(db, "CREATE TABLE made (id SERIAL PRIMARY KEY, t TEXT)"); err != nil {
			return err
		}
		result, err := db.Exec("INSERT INTO made (t) VALUES ($1), ($2)", "a", "b")
		if err != nil {
			return err
		}
		affected, err := result.RowsAffected()
		return first(err, expect(affected, int64(2)))
	})
	check("RETURNING", func() error {
		var id int64
		err := db.QueryRow("INSERT INTO made (t) VALUES ($1) RETURNING id", "c").Scan(&id)
		return first(err, expect(id, int64(3)))
	})
	check("a transaction that is rolled back", func() error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		_, err = tx.Exec("INSERT INTO made (t) VALUES ('gone')")
		return first(err, tx.Rollback(), expect(count(db, "made"), 3))
	})
	check("a transaction that only reads", func() error {
		tx, err := db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelSerializable})
		if err != nil {
			return err
		}
		_, err = tx.Exec("INSERT INTO made (t) VALUES ('no')")
		return first(expect(state(err), "25006"), tx.Rollback())
	})
	check("CopyIn", func() error {
		if err := run(db, "CREATE TABLE copied (n INTEGER, t TEXT)"); err != nil {
			return err
		}
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		statement, err := tx.Prepare(pq.CopyIn("copied", "n", "t"))
		if err != nil {
			return err
		}
		for n := 0; n < 100; n++ {
			if _, err := statement.Exec(n, "row\t"); err != nil {
				return err
			}
		}
		_, err = statement.Exec()
		return first(err, statement.Close(), tx.Commit(), expect(count(db, "copied"), 100))
	})
	check("errors", func() error {
		_, err := db.Exec("SELECT tittle FROM notes")
		return expect(state(err), "42703")
	})
	check("a cancelled context", func() error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := db.ExecContext(ctx, "SELECT 1")
		return expect(errors.Is(err, context.Canceled), true)
	})
}

func main() {
	fmt.Printf("version %s\n", os.Args[2])
	db, err := sql.Open("postgres", "host=127.0.0.1 port="+os.Args[1]+" user=ada dbname=s sslmode=disable")
	if err != nil {
		panic(err)
	}
	defer db.Close()
	check("ping", db.Ping)
	reads(db)
	writes(db)
	if failures > 0 {
		os.Exit(1)
	}
}
