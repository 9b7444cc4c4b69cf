#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/simulation/tensor_model.hpp"

namespace eindb::simulation {

/// A statement, and its effect on a model.
struct Step {
  std::string text;
  std::function<void(Model&)> apply;
};

/// An action of a client: one statement, or several in a transaction.
struct Action {
  std::vector<Step> steps;
  bool is_transaction = false;
  bool commits = true;  ///< whether the transaction commits; otherwise it is rolled back

  Model after(Model model) const;
  std::string text() const;
};

/// The statements that create a client's initial tensors.
std::vector<Step> first_statements(std::size_t side, std::size_t workers);
/// Chooses an action for the model, determined by the seed.
Action choose_action(const Model& model, std::size_t side, std::size_t workers);

}  // namespace eindb::simulation
