#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/simulation/tensor_model.hpp"

namespace eindb::simulation {

/// A statement, and what it makes of a model.
struct Step {
  std::string text;
  std::function<void(Model&)> apply;
};

/// What a client does: one statement, or several in a transaction.
struct Action {
  std::vector<Step> steps;
  bool is_transaction = false;
  bool commits = true;  ///< the transaction, or it is rolled back

  Model after(Model model) const;
  std::string text() const;
};

/// Tensors that a client begins with.
std::vector<Step> first_statements(std::size_t side, std::size_t workers);
/// Something that can be done with the model, by the seed.
Action choose_action(const Model& model, std::size_t side, std::size_t workers);

}  // namespace eindb::simulation
