-- PageRank: how often a reader is on each page who follows links at random, and now and then opens any page.

-- Inputs: links[i,j] is 1 where page i links to page j.
SET tile_bytes = '256MiB';   -- of tiles as if they were dense: fewer and larger ones
COPY links FROM 'links.mtx';
RESET tile_bytes;

-- Computation. A page without links is followed by any page.
CREATE OR REPLACE TENSOR share AS
WITH out[i] = SUM(links[i,j]) EINSUM share[i] = CASE WHEN out[i] > 0 THEN 1 / out[i] ELSE 0 END;
CREATE OR REPLACE TENSOR rank AS EINSUM rank[i] = 0 * share[i] + 1 / COUNT[k](share[k]);
CREATE OR REPLACE TENSOR change AS EINSUM change[] = 1.0;
REPEAT 100 UNTIL change < 1e-10 COMMIT EVERY 100 {
  WITH lost[] = SUM(CASE WHEN share[i] = 0 THEN rank[i] ELSE 0 END),
       new[j] = 0.15 / COUNT[k](share[k]) + 0.85 * (SUM[i](links[i,j] * share[i] * rank[i]) + lost / COUNT[k](share[k]))
  UPDATE TENSOR change[] = SUM(ABS(new[j] - rank[j])), rank[j] = new[j];
};

-- Result: the five pages with the highest ranks.
SELECT i AS page, ROUND(val, 6) AS rank FROM rank ORDER BY val DESC, i LIMIT 5;
