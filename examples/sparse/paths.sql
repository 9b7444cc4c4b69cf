-- How far is each place from place 0, in roads (breadth-first search) and in kilometres (shortest paths)?

-- Inputs: roads[i,j] is the length of the road from i to j; 0 means that there is none.
COPY roads FROM 'roads.mtx';

-- Computation. The places that are reached first in round t are t + 1 roads away.
CREATE OR REPLACE TENSOR hops AS
WITH degree[i] = SUM(roads[i,j]) EINSUM hops[i] = CASE WHEN i = 0 THEN 0 ELSE INFINITY + 0 * degree[i] END;
CREATE OR REPLACE TENSOR front AS EINSUM front[i] = hops[i] = 0;
REPEAT 1000000 AS t UNTIL SUM(front[i]) = 0 COMMIT EVERY 1000 {
  WITH reached[j] = SUM(roads[i,j] * front[i]) > 0 AND hops[j] = INFINITY
  UPDATE TENSOR front[j] = reached[j], hops[j] = CASE WHEN reached[j] THEN t + 1 ELSE hops[j] END;
};

-- Bellman and Ford: MIN of sums in the place of SUM of products, until nothing gets shorter. Roads that are not there are
-- infinitely long, and not 0, so that all pairs of places are looked at.
CREATE OR REPLACE TENSOR distance AS EINSUM distance[i] = CASE WHEN hops[i] = 0 THEN 0 ELSE INFINITY END;
CREATE OR REPLACE TENSOR changes AS EINSUM changes[] = 1.0;
REPEAT 1000000 UNTIL changes = 0 COMMIT EVERY 1000 {
  WITH via[j] = MIN[i](CASE WHEN roads[i,j] > 0 THEN distance[i] + roads[i,j] ELSE INFINITY END)
  UPDATE TENSOR changes[] = SUM(via[j] < distance[j]), distance[j] = LEAST(via[j], distance[j]);
};

-- Result: how many places there are at each number of roads, and how far the farthest of them is.
SELECT hops.val AS roads, COUNT(*) AS places, MAX(distance.val) AS farthest
FROM hops JOIN distance USING (i) GROUP BY hops.val ORDER BY hops.val;
