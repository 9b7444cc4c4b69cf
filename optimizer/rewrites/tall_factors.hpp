#pragma once

#include "optimizer/rewrites/planning_terms.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Takes QR, SVD, LSTSQ and PINV of matrices with many more rows than columns apart, so that no call holds all rows:
/// those of each block of rows have a QR of their own, the factors R, one above the other, have another one, and Q is
/// the product of both (J. Demmel and others, Communication-optimal parallel and sequential QR and LU factorizations,
/// 2012, section 3). Blocks are indices of a label that is cut, spilled and spread over workers as any other one:
///     A[i,j] -> A'[b,r,j] = Q1[b,r,k] * R1[b,k,j],  R1[(b,k),j] = Q2[(b,k),l] * R[l,j],  Q[(b,r),l] = Q1[b,r,k] *
///     Q2[(b,k),l]
/// and the SVD is that of R, with its left vectors multiplied by Q; likewise for least squares and pseudo-inverses. The
/// last block is filled up with rows of zeros, for which those of Q1 are zero. R1 is taken apart in turn if it is tall.
/// Of a matrix with many more columns than rows all but QR are computed from its transpose.
///
/// Blocks are cut by shape, and smaller where one would not have room under the memory limit. For several workers their
/// number is a multiple of theirs, so that blocks of rows lie where the rows do (AlignedLabels of tensor/access_form),
/// and the factors R are reduced to one for each worker before they travel.
EinGraph factorise_tall(const EinGraph& graph, const PlanningTerms& terms = {});

}  // namespace eindb
