// Checks Go's driver pgx 4 at a server of eindb: checks_pgx PORT VERSION.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgx/v4"
)

var failures = 0
var ctx = context.Background()

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

func texts(c *pgx.Conn, query string, arguments ...interface{}) ([]string, error) {
	rows, err := c.Query(ctx, query, arguments...)
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

func count(c *pgx.Conn, table string) int {
	number := -1
	_ = c.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&number)
	return number
}

func state(err error) string {
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		return failed.Code
	}
	return fmt.Sprint(err)
}

func reads(c *pgx.Conn) {
	check("rows", func() error {
		found, err := texts(c, "SELECT title FROM notes ORDER BY id")
		return first(err, expect(found, []string{"one", "two"}))
	})
	check("parameters", func() error {
		found, err := texts(c, "SELECT title FROM notes WHERE id = $1 AND score = $2 AND title = $3", 2, 2.5, "two")
		return first(err, expect(found, []string{"two"}))
	})
	check("values of all types in binary", func() error {
		var number int64
		var real float64
		var text string
		var truth bool
		var bytes []byte
		var null *string
		err := c.QueryRow(ctx, "SELECT $1::bigint, $2::float8, $3::text, $4::boolean, $5::bytea, $6::text",
			int64(1)<<62, 0.1, "ä'", true, []byte{0, 255}, nil).Scan(&number, &real, &text, &truth, &bytes, &null)
		return first(err, expect(number, int64(1)<<62), expect(real, 0.1), expect(text, "ä'"), expect(truth, true),
			expect(bytes, []byte{0, 255}), expect(null == nil, true))
	})
	check("array parameters", func() error {
		found, err := texts(c, "SELECT title FROM notes WHERE id = ANY($1::bigint[]) ORDER BY id", []int64{1, 2})
		return first(err, expect(found, []string{"one", "two"}))
	})
	check("the simple protocol", func() error {
		found, err := texts(c, "SELECT title FROM notes WHERE id = $1", pgx.QuerySimpleProtocol(true), 2)
		return first(err, expect(found, []string{"two"}))
	})
	check("values without stated types", func() error {
		rows, err := c.Query(ctx, "SELECT id, title, score FROM notes WHERE id = 1")
		if err != nil {
			return err
		}
		defer rows.Close()
		rows.Next()
		values, err := rows.Values()
		return first(err, expect(values, []interface{}{int64(1), "one", 1.5}))
	})
	check("batch", func() error {
		batch := &pgx.Batch{}
		for n := 1; n <= 2; n++ {
			batch.Queue("SELECT title FROM notes WHERE id = $1", n)
		}
		results := c.SendBatch(ctx, batch)
		var one, two string
		return first(results.QueryRow().Scan(&one), results.QueryRow().Scan(&two), results.Close(),
			expect(one+two, "onetwo"))
	})
	check("EINSUM", func() error {
		var i int
		var sum float64
		err := c.QueryRow(ctx, "EINSUM Z[i] = SUM(X[i,j]) * $1", 2.0).Scan(&i, &sum)
		return first(err, expect(sum, 6.0))
	})
	check("rows of a tensor", func() error {
		var value float32
		err := c.QueryRow(ctx, "SELECT val FROM X WHERE i = $1 AND j = $2", 1, 2).Scan(&value)
		return first(err, expect(value, float32(3)))
	})
}

func writes(c *pgx.Conn) {
	check("Exec", func() error {
		if _, err := c.Exec(ctx, "CREATE TABLE pgx_made (id SERIAL PRIMARY KEY, t TEXT)"); err != nil {
			return err
		}
		tag, err := c.Exec(ctx, "INSERT INTO pgx_made (t) VALUES ($1), ($2)", "a", "b")
		return first(err, expect(tag.RowsAffected(), int64(2)))
	})
	check("RETURNING", func() error {
		var id int64
		err := c.QueryRow(ctx, "INSERT INTO pgx_made (t) VALUES ($1) RETURNING id", "c").Scan(&id)
		return first(err, expect(id, int64(3)))
	})
	check("CopyFrom", func() error {
		if _, err := c.Exec(ctx, "CREATE TABLE pgx_copied (n BIGINT, t TEXT, x REAL)"); err != nil {
			return err
		}
		rows := pgx.CopyFromSlice(100, func(n int) ([]interface{}, error) {
			return []interface{}{int64(n), "row\t", 0.5}, nil
		})
		copied, err := c.CopyFrom(ctx, pgx.Identifier{"pgx_copied"}, []string{"n", "t", "x"}, rows)
		return first(err, expect(copied, int64(100)), expect(count(c, "pgx_copied"), 100))
	})
	check("a transaction that is rolled back", func() error {
		tx, err := c.Begin(ctx)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO pgx_made (t) VALUES ('gone')")
		return first(err, tx.Rollback(ctx), expect(count(c, "pgx_made"), 3))
	})
	check("a nested transaction", func() error {
		tx, err := c.Begin(ctx)
		if err != nil {
			return err
		}
		nested, err := tx.Begin(ctx)
		if err != nil {
			return err
		}
		_, err = nested.Exec(ctx, "SELECT tittle FROM notes")
		return first(expect(state(err), "42703"), nested.Rollback(ctx), tx.Commit(ctx))
	})
	check("a transaction that only reads", func() error {
		tx, err := c.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly})
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO pgx_made (t) VALUES ('no')")
		return first(expect(state(err), "25006"), tx.Rollback(ctx))
	})
	check("errors", func() error {
		_, err := c.Exec(ctx, "SELECT tittle FROM notes")
		return expect(state(err), "42703")
	})
}

func main() {
	fmt.Printf("version %s\n", os.Args[2])
	c, err := pgx.Connect(ctx, "host=127.0.0.1 port="+os.Args[1]+" user=ada dbname=s sslmode=disable")
	if err != nil {
		panic(err)
	}
	defer c.Close(ctx)
	check("ping", func() error { return c.Ping(ctx) })
	reads(c)
	writes(c)
	if failures > 0 {
		os.Exit(1)
	}
}
