-- Model counting: how many assignments of truth values satisfy a formula? It is a network of one small tensor for each clause,
-- and the number is their product, summed over all variables.

-- Inputs. A clause of three literals holds unless all of them are false; P is a variable, N a negated one.
CREATE TENSOR PPP INT64 AS EINSUM holds[x 2, y 2, z 2] = x OR y OR z;
CREATE TENSOR PPN INT64 AS EINSUM holds[x 2, y 2, z 2] = x OR y OR NOT z;
CREATE TENSOR PNN INT64 AS EINSUM holds[x 2, y 2, z 2] = x OR NOT y OR NOT z;
CREATE TENSOR NNN INT64 AS EINSUM holds[x 2, y 2, z 2] = NOT x OR NOT y OR NOT z;

-- Computation: the formula, a clause each.
CREATE OR REPLACE TENSOR models AS EINSUM models[] = SUM(PNN[v3,v1,v2] * PNN[v2,v3,v5] * PPN[v3,v4,v5] * PPP[v4,v5,v7] * NNN[v5,v6,v8]
  * PNN[v8,v7,v9] * PNN[v8,v9,v10] * PPN[v8,v9,v11] * PPN[v10,v12,v11] * PNN[v11,v10,v12]
  * PNN[v13,v12,v14] * PPN[v13,v15,v12] * PNN[v15,v13,v14]);

-- Result
EINSUM found[] = models;
