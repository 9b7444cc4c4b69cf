-- Matrix factorisation: ratings of films that users have seen, as products of 4 features of users and of films. What was not
-- rated does not count. Alternating least squares: the best users for the films, then the best films for these users.

-- Inputs
COPY ratings FROM 'ratings.mtx';
COPY start FROM 'films.npy';

-- Computation
CREATE OR REPLACE TENSOR seen AS EINSUM seen[u,f] = CASE WHEN ratings[u,f] <> 0 THEN 1 ELSE 0 END;
CREATE OR REPLACE TENSOR films AS EINSUM films[f,r] = start[f,r];
CREATE OR REPLACE TENSOR users AS EINSUM users[u,r] = 0 * SUM[f](ratings[u,f]) + 0 * SUM[f](start[f,r]);
REPEAT 5 COMMIT EVERY 5 {
  WITH G[u,r,s] = SUM(seen[u,f] * films[f,r] * films[f,s]) + 0.1 * (r = s),
       b[u,r] = SUM(ratings[u,f] * films[f,r]),
       best[u,r] = SOLVE(G[u,r,s], b[u,r])
  UPDATE TENSOR users[u,r] = best[u,r];
  WITH G[f,r,s] = SUM(seen[u,f] * users[u,r] * users[u,s]) + 0.1 * (r = s),
       b[f,r] = SUM(ratings[u,f] * users[u,r]),
       best[f,r] = SOLVE(G[f,r,s], b[f,r])
  UPDATE TENSOR films[f,r] = best[f,r];
};
CREATE OR REPLACE TENSOR error AS
WITH off[u,f] = ratings[u,f] - seen[u,f] * SUM(users[u,r] * films[f,r])
EINSUM error[] = SQRT(SUM(off[u,f]^2) / SUM(seen[u,f]));

-- Result: the root of the mean square error.
EINSUM rounded[] = ROUND(1000 * error) / 1000;
