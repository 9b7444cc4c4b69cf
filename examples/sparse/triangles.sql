-- Triangles: three people who all know each other; and how many of a person's friends know each other (clustering).

-- Inputs: friends[i,j] is 1 where i and j are friends, in both directions.
COPY friends FROM 'friends.mtx';

-- Computation
CREATE OR REPLACE TENSOR triangles AS EINSUM triangles[i] = SUM(friends[i,j] * friends[j,k] * friends[k,i]) / 2;
CREATE OR REPLACE TENSOR clustering AS
WITH degree[i] = SUM(friends[i,j]), possible[i] = degree[i] * (degree[i] - 1) / 2
EINSUM clustering[i] = CASE WHEN possible[i] > 0 THEN triangles[i] / possible[i] ELSE 0 END;

-- The same in SQL: a join of a table with itself, three times.
CREATE TABLE IF NOT EXISTS friendship AS SELECT i, j FROM friends WHERE val <> 0 AND i < j;
CREATE INDEX IF NOT EXISTS of_friend ON friendship (i, j);
SELECT COUNT(*) FROM friendship AS x JOIN friendship AS y ON y.i = x.j JOIN friendship AS z ON z.i = x.i AND z.j = y.j;

-- Result
EINSUM total[] = SUM(triangles[i]) / 3;
SELECT i AS person, val AS clustering FROM clustering ORDER BY val DESC, i LIMIT 3;
