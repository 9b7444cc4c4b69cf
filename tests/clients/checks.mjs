// Checks Node's package pg at a server of eindb: node checks.mjs PORT, in a folder where pg is installed.

import { deepStrictEqual as equal, rejects } from 'node:assert';
import { createRequire } from 'node:module';
import pg from 'pg';
import Cursor from 'pg-cursor';

const require = createRequire(import.meta.url);
const options = { host: '127.0.0.1', port: Number(process.argv[2]), user: 'ada', database: 's' };
let failures = 0;

async function check(name, body) {
  try {
    await body();
    console.log(`ok ${name}`);
  } catch (error) {
    ++failures;
    console.log(`failed ${name}: ${String(error.message).replaceAll('\n', ' ')}`);
  }
}

console.log(`version ${require('pg/package.json').version}`);
const client = new pg.Client(options);
await client.connect();
const rows = async (text, values) => (await client.query(text, values)).rows;

await check('rows', async () =>
  equal(await rows('SELECT id, title, score FROM notes ORDER BY id'), [
    { id: '1', title: 'one', score: 1.5 },
    { id: '2', title: 'two', score: 2.5 },
  ]));
await check('parameters', async () =>
  equal(await rows('SELECT title FROM notes WHERE id = $1 AND score = $2', [2, 2.5]), [{ title: 'two' }]));
await check('parameters of all types', async () =>
  equal(await rows('SELECT $1::text AS t, $2::boolean AS b, $3::float8 AS x, $4::bigint AS n, $5::text AS z', [
    "ä'", true, 0.1, '9007199254740993', null,
  ]), [{ t: "ä'", b: true, x: 0.1, n: '9007199254740993', z: null }]));
await check('array parameters', async () =>
  equal(await rows('SELECT title FROM notes WHERE id = ANY($1::bigint[]) ORDER BY id', [[1, 2]]), [
    { title: 'one' }, { title: 'two' },
  ]));
await check('named statements', async () => {
  for (const id of [1, 2, 1])
    equal((await client.query({ name: 'by-id', text: 'SELECT id FROM notes WHERE id = $1', values: [id] })).rows, [
      { id: String(id) },
    ]);
});
await check('rows as arrays', async () =>
  equal((await client.query({ text: 'SELECT id, title FROM notes ORDER BY id', rowMode: 'array' })).rows, [
    ['1', 'one'], ['2', 'two'],
  ]));
await check('binary results', async () =>
  equal((await client.query({ text: 'SELECT id, title FROM notes WHERE id = $1', values: [1], binary: true })).rows, [
    { id: '1', title: 'one' },
  ]));
await check('several statements', async () =>
  equal((await client.query('SELECT 1 AS a; SELECT 2 AS b')).map(result => result.rows.length), [1, 1]));
await check('RETURNING', async () => {
  await client.query('CREATE TABLE made (id SERIAL PRIMARY KEY, t TEXT)');
  equal(await rows('INSERT INTO made (t) VALUES ($1), ($2) RETURNING id', ['a', 'b']), [{ id: '1' }, { id: '2' }]);
});
await check('rowCount and command', async () => {
  const result = await client.query("UPDATE made SET t = 'c'");
  equal([result.rowCount, result.command], [2, 'UPDATE']);
});
await check('bytes', async () => {
  await client.query('CREATE TABLE kept (b BYTEA)');
  await client.query('INSERT INTO kept VALUES ($1)', [Buffer.from([0, 1, 255])]);
  equal([...(await rows('SELECT b FROM kept'))[0].b], [0, 1, 255]);
});
await check('JSON parameters', async () =>
  equal(await rows("SELECT json_extract($1::text, '$.a') AS a", [{ a: 'x' }]), [{ a: 'x' }]));
await check('transactions', async () => {
  await client.query('BEGIN');
  await client.query("INSERT INTO made (t) VALUES ('gone')");
  await client.query('ROLLBACK');
  equal(await rows('SELECT count(*) AS n FROM made'), [{ n: '2' }]);
});
await check('errors', async () => {
  await rejects(client.query('SELECT tittle FROM notes'), { code: '42703' });
  equal((await rows('SELECT 1 AS n')).length, 1);
});
await check('pg-cursor', async () => {
  const cursor = client.query(new Cursor('SELECT i, j FROM X ORDER BY i, j'));
  equal((await cursor.read(5)).length, 5);
  equal((await cursor.read(100)).length, 7);
  await cursor.close();
});
await check('Pool', async () => {
  const pool = new pg.Pool({ ...options, max: 4 });
  const found = await Promise.all([...Array(20).keys()].map(n => pool.query('SELECT $1::bigint AS n', [n])));
  equal(found.map(result => Number(result.rows[0].n)), [...Array(20).keys()]);
  await pool.end();
});
await check('EINSUM', async () =>
  equal((await rows('EINSUM Z[i] = SUM(X[i,j])')).map(row => row.val), [3, 11, 19]));
await check('EINSUM with a parameter', async () =>
  equal((await rows('EINSUM Z[i] = SUM(X[i,j]) * $1', [2])).map(row => row.val), [6, 22, 38]));

await client.end();
process.exit(failures ? 1 : 0);
