#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/ein_graph.hpp"
#include "tensor/observed_cells.hpp"

namespace eindb {

/// A product of tensors, some of whose labels are aggregated, however it is taken apart into vertices. Labels are
/// numbers that mean something within it alone.
///
/// Example: U[i,l] = SUM(T[i,k] * C[k,l]) with T[i,k] = SUM(A[i,j] * B[j,k]) is the product of A[0,3], B[3,1] and
/// C[1,2], of which 0 and 2 are kept.
struct CellProduct {
  struct Factor {
    std::string tensor;
    std::vector<std::size_t> labels;
  };
  std::vector<Factor> factors;
  std::vector<std::size_t> kept;  ///< the labels of the result's dimensions
};

/// The products that computed inputs of a graph stand for (InputTensor::is_computed), by name.
using ComputedProducts = std::map<std::string, CellProduct>;

/// What a vertex is the product of; nullopt if it is none, or one of very many factors. A function of one operand
/// counts as that operand: where its cells are does not depend on it, as a rule.
std::optional<CellProduct> product_of(const EinGraph& graph, VertexId id, const ComputedProducts& computed = {});

/// A product as text that is equal for equal products, and its kept labels in the order that the text gives them. Equal
/// factors may make it two texts for one product, but never one for two.
struct ProductKey {
  std::string text;
  std::vector<std::size_t> kept;
};
ProductKey key_of(CellProduct product);

/// What was observed of a product, with the spread in the order of `product.kept`; nullopt if nothing was.
std::optional<CellEstimate> observed_of(const ObservedCells& observed, const CellProduct& product);
/// Notes the cells of a product, whose spread is in the order of `product.kept`, or empty. After some tens of changes
/// nothing is noted any more.
void observe(ObservedCells& observed, const CellProduct& product, const CellEstimate& cells);

}  // namespace eindb
