#include "tests/simulation/statements.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "tests/simulation/virtual_threads.hpp"

namespace eindb::simulation {
namespace {

// Above this value tensors are overwritten, so that all numbers stay exact.
constexpr double kLargest = 1e6;
constexpr std::size_t kMostTensors = 6;

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string cuts(std::size_t side) {
  return "(" + number(1 + draw_below(std::min<std::size_t>(side, 4))) + ", " +
         number(1 + draw_below(std::min<std::size_t>(side, 4))) + ")";
}

std::string replicas(std::size_t workers) {
  return workers > 1 && draw_once_in(2) ? " REPLICAS " + number(2 + draw_below(std::min<std::size_t>(workers, 3) - 1))
                                        : "";
}

std::string placement(std::size_t side, std::size_t workers) { return " PARTITION " + cuts(side) + replicas(workers); }

std::size_t tensors_of(const Model& model) { return model.size() - model.count(kTable); }

// One of the tensors, whose names precede the table's.
std::string any_of(const Model& model) {
  return std::next(model.begin(), static_cast<std::ptrdiff_t>(draw_below(tensors_of(model))))->first;
}

std::string free_name(const Model& model) {
  for (char letter = 'A';; ++letter)
    if (!model.contains(std::string(1, letter))) return std::string(1, letter);
}

double largest(const Matrix& matrix) {
  double out = 0;
  for (const double cell : matrix.cells) out = std::max(out, std::abs(cell));
  return out;
}

Step create_from_labels(const std::string& name, std::size_t side, std::size_t workers) {
  const auto factor = 1 + draw_below(9);
  const auto text = "CREATE TENSOR " + name + placement(side, workers) + " AS EINSUM " + name + "[i " + number(side) +
                    ", j " + number(side) + "] = i * " + number(factor) + " + j";
  return {text, [=](Model& model) { model[name] = matrix_of(side, [=](auto i, auto j) { return i * factor + j; }); }};
}

Step create_product(const Model& before, std::size_t side, std::size_t workers) {
  const auto name = free_name(before);
  const auto left = any_of(before);
  const auto right = any_of(before);
  if (largest(before.at(left)) > kLargest || largest(before.at(right)) > kLargest)
    return create_from_labels(name, side, workers);
  const auto text = "CREATE TENSOR " + name + placement(side, workers) + " AS EINSUM " + name + "[i,k] = SUM(" + left +
                    "[i,j] * " + right + "[j,k])";
  return {text, [=](Model& model) {
            const auto& a = model[left];
            const auto& b = model[right];
            model[name] = matrix_of(side, [&](auto i, auto k) {
              double sum = 0;
              for (std::size_t j = 0; j < side; ++j) sum += a.at(i, j) * b.at(j, k);
              return sum;
            });
          }};
}

Step update(const Model& before) {
  const auto name = any_of(before);
  const auto other = any_of(before);
  const auto added = draw_below(20);
  if (largest(before.at(name)) + largest(before.at(other)) > kLargest)
    return {"UPDATE TENSOR " + name + "[i,j] = i + " + number(added) + " * j", [=](Model& model) {
              model[name] = matrix_of(model[name].side, [=](auto i, auto j) { return i + added * j; });
            }};
  if (draw_once_in(2))
    return {"UPDATE TENSOR " + name + "[i,j] = " + name + "[i,j] + " + number(added), [=](Model& model) {
              for (auto& cell : model[name].cells) cell += static_cast<double>(added);
            }};
  return {"UPDATE TENSOR " + name + "[i,j] = " + other + "[j,i] - " + name + "[i,j]", [=](Model& model) {
            const auto old = model[name];
            const auto turned = model[other];
            model[name] = matrix_of(old.side, [&](auto i, auto j) { return turned.at(j, i) - old.at(i, j); });
          }};
}

Step insert(const Model& before, std::size_t side) {
  const auto name = any_of(before);
  const auto i = draw_below(side);
  const auto j = draw_below(side);
  const auto value = draw_below(100);
  return {"INSERT INTO TENSOR " + name + " VALUES (" + number(i) + ", " + number(j) + ", " + number(value) + ")",
          [=](Model& model) { model[name].at(i, j) = static_cast<double>(value); }};
}

Step drop(const Model& before) {
  const auto name = any_of(before);
  return {"DROP TENSOR " + name, [=](Model& model) { model.erase(name); }};
}

Step rename(const Model& before) {
  const auto name = any_of(before);
  const auto to = free_name(before);
  return {"ALTER TENSOR " + name + " RENAME TO " + to, [=](Model& model) {
            auto node = model.extract(name);
            node.key() = to;
            model.insert(std::move(node));
          }};
}

Step alter(const Model& before, std::size_t side, std::size_t workers) {
  const auto text = "ALTER TENSOR " + any_of(before);
  if (workers > 1 && draw_once_in(3))
    return {text + " REPLICAS " + number(1 + draw_below(std::min<std::size_t>(workers, 3))), [](Model&) {}};
  return {text + " PARTITION " + cuts(side), [](Model&) {}};
}

Step count_up() {
  return {"UPDATE t SET n = n + 1", [](Model& model) { ++model[kTable].at(0, 0); }};
}

Step choose_step(const Model& model, std::size_t side, std::size_t workers) {
  if (tensors_of(model) == 0) return create_from_labels("A", side, workers);
  const bool has_room = tensors_of(model) < kMostTensors;
  switch (draw_below(11)) {
    case 0:
    case 1:
      if (has_room) return create_product(model, side, workers);
      return drop(model);
    case 2:
      if (has_room) return create_from_labels(free_name(model), side, workers);
      return update(model);
    case 3: return tensors_of(model) > 1 ? drop(model) : update(model);
    case 4: return alter(model, side, workers);
    case 5: return insert(model, side);
    case 6: return rename(model);
    case 7: return count_up();
    default: return update(model);
  }
}

}  // namespace

Model Action::after(Model model) const {
  if (is_transaction && !commits) return model;
  for (const auto& step : steps) step.apply(model);
  return model;
}

std::string Action::text() const {
  std::string out = is_transaction ? "BEGIN; " : "";
  for (const auto& step : steps) out += step.text + "; ";
  if (is_transaction) out += commits ? "COMMIT" : "ROLLBACK";
  return out;
}

std::vector<Step> first_statements(std::size_t side, std::size_t workers) {
  return {create_from_labels("A", side, workers),
          create_from_labels("B", side, workers),
          {"CREATE TABLE t AS SELECT 0 AS n", [](Model& model) {
             model[kTable] = Matrix{1, {0}};
           }}};
}

Action choose_action(const Model& model, std::size_t side, std::size_t workers) {
  if (!draw_once_in(4)) return {{choose_step(model, side, workers)}};
  Action action{{}, true, !draw_once_in(4)};
  auto now = model;
  for (auto left = 1 + draw_below(3); left > 0; --left) {
    action.steps.push_back(choose_step(now, side, workers));
    action.steps.back().apply(now);
  }
  return action;
}

}  // namespace eindb::simulation
