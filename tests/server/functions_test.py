"""Functions and aggregates of PostgreSQL's SQL give PostgreSQL's values and errors."""

import random
import unittest

import psycopg2

from random_sql_test import Outcome, Postgres, postgres_programs, same_rows, texts
from served import Server

SCHEMA = """
CREATE TABLE m (id INTEGER, g INTEGER, n INTEGER, x DOUBLE PRECISION, y DOUBLE PRECISION, s TEXT, f BOOLEAN, d DATE);
"""
ROWS = """
INSERT INTO m VALUES (1, 1, 7, 1.5, 2.0, 'b', true, '2024-02-01'), (2, 1, 3, -2.25, 1.0, 'a', true, '2024-01-01'),
  (3, 1, NULL, 4.0, 9.5, 'c', false, NULL), (4, 2, 3, NULL, 1.0, NULL, NULL, '2023-01-01'), (5, 2, 3, 8.0, NULL, 'a', true, '2024-03-01'),
  (6, 3, 2147483647, 1e10, 1e-3, 'é', false, '2022-01-01'), (7, 3, -5, 1e10, 2.0, 'z', false, '2022-01-01'), (8, 4, NULL, NULL, NULL, NULL, NULL, NULL)
"""

AGGREGATES = """
stddev(n); stddev_samp(x); stddev_pop(n); stddev_pop(x); variance(x); variance(n); var_samp(n); var_pop(x); var_pop(n)
corr(y, x); covar_pop(y, x); covar_samp(y, x); regr_slope(y, x); regr_intercept(y, x); regr_r2(y, x); regr_avgx(y, x)
regr_avgy(y, n); regr_sxx(y, x); regr_syy(y, x); regr_sxy(y, n); corr(n, n)
bool_and(f); bool_or(f); every(f); bit_and(n); bit_or(n); bit_xor(n); stddev(DISTINCT n); variance(x) FILTER (WHERE n > 2)
percentile_cont(0.5) WITHIN GROUP (ORDER BY x); percentile_cont(0.3) WITHIN GROUP (ORDER BY n)
percentile_cont(0.25) WITHIN GROUP (ORDER BY y DESC); percentile_cont(0) WITHIN GROUP (ORDER BY x); percentile_cont(1) WITHIN GROUP (ORDER BY x)
percentile_disc(0.5) WITHIN GROUP (ORDER BY n); percentile_disc(0.5) WITHIN GROUP (ORDER BY s DESC)
percentile_disc(0.01) WITHIN GROUP (ORDER BY d); percentile_disc(0.75) WITHIN GROUP (ORDER BY x); percentile_disc(0.5) WITHIN GROUP (ORDER BY f)
percentile_cont(NULL) WITHIN GROUP (ORDER BY x); percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FILTER (WHERE n = 3)
mode() WITHIN GROUP (ORDER BY n); mode() WITHIN GROUP (ORDER BY s DESC)
string_agg(s, ',' ORDER BY s); string_agg(s, ',' ORDER BY id DESC); string_agg(s, '-' ORDER BY n, id); string_agg(DISTINCT s, ',')
string_agg(DISTINCT s, ',' ORDER BY s DESC); string_agg(s, ',' ORDER BY n NULLS FIRST, id); string_agg(s || n, ';' ORDER BY d DESC NULLS LAST, id)
string_agg(n::text, ' ' ORDER BY n DESC, id) FILTER (WHERE n < 10); (array_agg(n ORDER BY n, id))::text; (array_agg(s ORDER BY id DESC))::text; (array_agg(DISTINCT n))::text
count(DISTINCT n) + stddev(x); sum(n) FILTER (WHERE f)
"""

WINDOWS = """
stddev(x) OVER (PARTITION BY g); var_pop(n) OVER (ORDER BY id); corr(y, x) OVER (PARTITION BY g ORDER BY id); bool_or(f) OVER (ORDER BY id)
regr_slope(y, x) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
"""

SCALARS = r"""
md5('abc'); md5(''); md5(s); sha256('abc'::bytea); sha224('x'); sha384(''); sha512('abc'); encode('abc'::bytea, 'hex'); encode('\x00ff61', 'base64')
encode(repeat('x', 100)::bytea, 'base64'); encode('a\\b\x01'::bytea, 'escape'); decode('YWJj', 'base64'); decode('616', 'hex'); decode('6G', 'hex')
decode('YW=', 'base64'); decode('00ff', 'hex'); encode(sha256('abc'), 'hex'); encode('a', 'rot13'); length('\x0001'::bytea)
2 ^ 3; 2 ^ -1; 2.5 ^ 2; n ^ 2; (-8) ^ 0.5; 0 ^ -1; power(2, 10); log(2, 8); log(0, 2); log(100); ln(2.5); cot(1); sinh(1); cosh(1); tanh(0.5); asinh(1)
acosh(2); acosh(0.5); atanh(0.5); gcd(12, 18); lcm(4, 6); gcd(-4, 6); gcd(0, 0); lcm(0, 3); sign(-2); cbrt(27)
width_bucket(5.35, 0.024, 10.06, 5); width_bucket(0, 1, 10, 3); width_bucket(10, 1, 10, 3); width_bucket(3, 10, 1, 3); width_bucket(1, 1, 1, 3)
width_bucket(1, 0, 1, 0); width_bucket(x, 0, 10, 4)
regexp_replace('foobar', 'o+', 'X'); regexp_replace('foobarbaz', 'b..', 'X', 'g'); regexp_replace('ABCabc', 'b', 'x', 'gi'); regexp_replace('hello world', '(\w+) (\w+)', '\2 \1')
regexp_replace('abc', 'b', '<\&>'); regexp_replace('abcd', 'ab|abcd', 'x'); regexp_replace('a.b', '.', '-', 'g'); regexp_replace('abc', '(', 'x')
regexp_replace('aXbX', 'x', '\\', 'gi'); regexp_replace('abc', 'b', 'x', 'q!'); regexp_like('Hello', 'h.*o', 'i'); regexp_like('Hello', 'h.*o'); regexp_count('banana', 'a')
regexp_substr('foobar', 'o.'); substring('foobar' from 'o(.)b'); substring('foobar', 'o.b'); substring('foobar' from 2 for 3); E'a\nb' ~ 'a.b'; 'abc' ~ '^b'; s ~* 'A'
overlay('Txxxxas' placing 'hom' from 2 for 4); overlay('abcdef' placing 'ZZ' from 3); overlay('abc' placing 'x' from 10); overlay('abc' placing 'x' from 0)
translate('12345', '143', 'ax'); ascii('é'); chr(233); chr(0); initcap('hELLO wörld-x 3rd'); lpad('hi', 5, 'xy'); rpad('hi', 1); lpad('hi', 5, '')
repeat('ab', 2); repeat('ab', -1); reverse('añb'); split_part('a,b,c', ',', -1); split_part('abc', '', 1); split_part('a', ',', 0); strpos('abc', ''); starts_with('abc', 'ab')
format('Hello %s, %1$s', 'World'); format('%s %s', 1, NULL); format('|%10s|%-6s|', 'foo', 'ab'); format('%I %L', 'My Table', 'it''s'); format('%L', NULL); format('%%'); format('%I', 'plain')
format('%s'); format('%x', 1); format('%3$s %s', 1, 2, 3); format('%2$s %s', 'a', 'b', 'c'); format('%L', E'a\\b'); format('%'); format('%s', 1.5::float8); format('%s', true)
quote_literal('a''b'); quote_ident('a b'); quote_nullable(NULL); concat('a', NULL, 1, true); concat_ws(',', 'a', NULL, 'c'); to_hex(255); octet_length('é'); bit_length('é')
nullif(1, 1); greatest(1, NULL, 3); pi(); degrees(pi()); mod(7, -3); div(7, 2); trunc(-2.567, 2); round(-2.5); round(2.5::float8); ceil(-0.5); random() < 1; setseed('x')
"""

# setseed is refused here, and has no value there.
REFUSED_HERE = ("setseed",)


def parts(text):
    return [part.strip() for line in text.strip().splitlines() for part in line.split(";") if part.strip()]


@unittest.skipUnless(postgres_programs(), "PostgreSQL is not installed")
class Functions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.postgres = Postgres()
        cls.addClassCleanup(cls.postgres.close)
        cls.server = Server("CREATE TABLE unused (n INTEGER);")
        cls.addClassCleanup(cls.server.close)
        cls.ours = texts(psycopg2.connect(**cls.server.arguments()))
        cls.theirs = texts(psycopg2.connect(host=cls.postgres.folder, user="ada", dbname="postgres"))
        cls.addClassCleanup(cls.ours.close)
        cls.addClassCleanup(cls.theirs.close)
        for connection in (cls.ours, cls.theirs):
            with connection.cursor() as cursor:
                cursor.execute(SCHEMA)
                cursor.execute(ROWS)

    def compare(self, statement, same=same_rows):
        ours, theirs = Outcome(self.ours, statement), Outcome(self.theirs, statement)
        with self.subTest(statement):
            if theirs.code or ours.code:
                self.assertEqual(ours.code, theirs.code, f"here {ours.error or ours.rows}, there {theirs.error or theirs.rows}")
            else:
                self.assertTrue(same(ours.rows, theirs.rows), f"here {ours.rows}, there {theirs.rows}")

    def test_aggregates(self):
        for each in parts(AGGREGATES):
            self.compare(f"SELECT {each} FROM m")
            self.compare(f"SELECT g, {each} FROM m GROUP BY g ORDER BY g")
            self.compare(f"SELECT {each} FROM m WHERE id < 0")

    def test_windows(self):
        for each in parts(WINDOWS):
            self.compare(f"SELECT id, {each} FROM m ORDER BY id")

    def test_scalars(self):
        for each in parts(SCALARS):
            if not each.startswith(REFUSED_HERE):
                self.compare(f"SELECT {each} FROM m WHERE id = 1")

    def test_errors_of_aggregates(self):
        for statement in ("SELECT percentile_cont(1.5) WITHIN GROUP (ORDER BY x) FROM m", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s) FROM m",
                          "SELECT stddev(s) FROM m", "SELECT stddev(sum(x)) FROM m", "SELECT string_agg(DISTINCT s, ',' ORDER BY n) FROM m",
                          "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) OVER () FROM m"):  # fmt: skip
            self.compare(statement)

    def test_formats_of_numbers(self):
        random.seed(3)
        forms = ["9999", "FM9999", "0000", "9990.99", "FM9990.99", "FM9990.00", "99,999.9", "FM99,999.9", "S9999", "9999S", "9999MI", "MI9999", "9999PR",
                 "99.99", "FM99.99", "FM99.09", ".99", "FM.99", "0.9", "999D9", "9G999", "00,009.90", "99", "9", "FM9", "FM0", "SFM999.9",
                 "999\" units\"", "99 99", "FM99-99", "9.", "S0.00"]  # fmt: skip
        values = [0, 1, -1, 12, -12, 123, 1234, -1234, 99999, 0.5, -0.5, 0.05, 12.5, -12.345, 1234.567, 0.004, 9.995, 99.999]
        for form in forms:
            for value in values:
                for kind in ("int", "numeric", "float8") if value == int(value) else ("numeric", "float8"):
                    self.compare(f"SELECT to_char(({value})::{kind}, '{form}')", lambda a, b: a == b)


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("CREATE TABLE m (id INTEGER, x REAL, s TEXT); INSERT INTO m VALUES (1, 2, 'a'), (2, 4, 'b'), (3, 3, 'c');")
        cls.addClassCleanup(cls.server.close)
        cls.connection = psycopg2.connect(**cls.server.arguments())
        cls.connection.autocommit = True
        cls.addClassCleanup(cls.connection.close)

    def test_refusals(self):
        for statement in ("SELECT setseed(0.5)", "SELECT stddev(x) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM m",
                          "SELECT to_char(1.5, '9EEEE')",
                          "SELECT to_char(5, 'RN')", "SELECT regexp_replace(s, 'a.*?b*', 'x') FROM m", "SELECT format('%*s', 3, 'a')"):  # fmt: skip
            with self.subTest(statement), self.connection.cursor() as cursor, self.assertRaises(psycopg2.Error) as caught:
                cursor.execute(statement)
            self.assertEqual(caught.exception.pgcode, "0A000", statement)

    def test_median_is_ours(self):
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT median(x), median(id) FILTER (WHERE id > 1) FROM m")
            self.assertEqual(cursor.fetchall(), [(3.0, 2.5)])


if __name__ == "__main__":
    unittest.main()
