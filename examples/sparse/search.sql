-- TF-IDF: which documents match a query best? Words count the more, the fewer documents they occur in.

-- Inputs: a row (document, word) for each word of each text, and the words of the query. Words get numbers in SQL.
CREATE TABLE words (document INTEGER, word TEXT);
COPY words FROM 'words.csv';
CREATE TABLE asked (word TEXT);
COPY asked FROM 'query.csv';
CREATE TABLE terms (id INTEGER PRIMARY KEY, word TEXT UNIQUE);
INSERT INTO terms SELECT ROW_NUMBER() OVER (ORDER BY word) - 1, word FROM (SELECT DISTINCT word FROM words);
SET tile_bytes = '256MiB';   -- of tiles as if they were dense: fewer and larger ones
CREATE TENSOR counts (d 100000, t 100000) AS
SELECT document, id, COUNT(*) FROM words JOIN terms USING (word) GROUP BY document, id;
CREATE TENSOR query (t 100000) AS SELECT id, COUNT(*) FROM asked JOIN terms USING (word) GROUP BY id;
RESET tile_bytes;

-- Computation
CREATE OR REPLACE TENSOR idf AS
WITH documents[] = SUM(SUM[t](counts[d,t]) > 0), having[t] = SUM[d](counts[d,t] > 0)
EINSUM idf[t] = CASE WHEN having[t] > 0 THEN LOG(documents / having[t]) ELSE 0 END;
CREATE OR REPLACE TENSOR weights AS EINSUM weights[d,t] = counts[d,t] * idf[t];
CREATE OR REPLACE TENSOR score AS
WITH length[d] = SQRT(SUM(weights[d,t]^2)), match[d] = SUM(weights[d,t] * idf[t] * query[t])
EINSUM score[d] = CASE WHEN length[d] > 0 THEN match[d] / length[d] ELSE 0 END;

-- Result: the five best documents.
SELECT d AS document, ROUND(val, 4) AS score FROM score WHERE val > 0 ORDER BY val DESC LIMIT 5;
