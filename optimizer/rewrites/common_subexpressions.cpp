#include "optimizer/rewrites/common_subexpressions.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;
using Numbers = std::vector<std::size_t>;

// Limit on the orders that are tried if several operands read the same vertex; 4 such operands have 24 orders.
constexpr std::size_t kMostOrders = 24;

// Values serialised to bytes, so that equal keys mean equal values.
class Key {
 public:
  void add(std::uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void add(const std::string& text) {
    add(text.size());
    bytes_ += text;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Whether swapping the two arguments never changes the value. (LEAST of 0 and -0 is its first argument, so it does
// not.)
bool commutes(const ScalarExpression& e) {
  using enum ScalarOp;
  switch (e.op()) {
    case Multiply: return true;
    case Add: return e.arguments().size() == 2;
    case Equal:
    case NotEqual:
    case And:
    case Or: return true;
    default: return false;
  }
}

// Interns texts as numbers, so that a node's text can refer to those of its arguments.
class KnownTexts {
 public:
  std::uint64_t number_of(std::string text) {
    return numbers_.try_emplace(std::move(text), numbers_.size()).first->second;
  }

 private:
  std::unordered_map<std::string, std::uint64_t> numbers_;
};

// One way to serialise a vertex: operands in a given order, labels numbered by first occurrence.
class Writing {
 public:
  // `operands` is the order: position n has operand operands[n].
  Writing(const Vertex& vertex, const LabelTable& table, KnownTexts& texts, const Numbers& operands)
      : vertex_(vertex), table_(table), texts_(texts), place_of_(operands.size()) {
    CHECK(operands.size() == vertex.inputs.size(), "an order of operands has all of them");
    for (std::size_t n = 0; n < operands.size(); ++n) place_of_[operands[n]] = n;
    for (const auto n : operands) number(vertex.einsum.inputs[n]);
    number(index_labels_of(*vertex.einsum.expression));
    number_unread(vertex.einsum.output);
    number_unread(vertex.einsum.aggregated);
    write(operands);
  }

  const std::string& key() const { return key_; }
  // The numbers of the labels of the head.
  const Numbers& head() const { return head_; }

 private:
  void number(const Labels& labels) {
    for (const auto label : labels)
      if (number_.try_emplace(label, number_.size()).second) extents_.push_back(table_.extent(label));
  }

  // Labels that no operand has are distinguished by their extents alone.
  void number_unread(Labels labels) {
    const auto shorter = [&](Label a, Label b) { return table_.extent(a) < table_.extent(b); };
    std::stable_sort(labels.begin(), labels.end(), shorter);
    number(labels);
  }

  Numbers numbers(const Labels& labels) const {
    Numbers out;
    for (const auto label : labels) out.push_back(number_.at(label));
    return out;
  }

  static void add(Key& key, const Numbers& numbers) {
    key.add(numbers.size());
    for (const auto n : numbers) key.add(n);
  }

  static Numbers sorted(Numbers places) {
    std::sort(places.begin(), places.end());
    return places;
  }

  void write(const Numbers& operands) {
    Key key;
    key.add(static_cast<std::uint64_t>(vertex_.dtype));
    key.add(static_cast<std::uint64_t>(vertex_.compute_dtype));
    key.add(static_cast<std::uint64_t>(vertex_.einsum.aggregate));
    if (const auto& block = vertex_.einsum.block) {
      key.add(static_cast<std::uint64_t>(block->op) * 2 + (block->descending ? 1 : 0));
      key.add(std::bit_cast<std::uint64_t>(block->share));
    }
    const auto* user = vertex_.einsum.user.get();
    key.add(user == nullptr ? "" : user->name + describe(*user));
    for (const auto n : operands) {
      key.add(vertex_.inputs[n].index());
      add(key, numbers(vertex_.einsum.inputs[n]));
    }
    head_ = numbers(vertex_.einsum.output);
    add(key, sorted(head_));
    const auto aggregated = numbers(vertex_.einsum.aggregated);
    add(key, folds_in_order(vertex_.einsum) ? aggregated : sorted(aggregated));
    for (const auto extent : extents_) key.add(static_cast<std::uint64_t>(extent));
    key.add(number_of(*vertex_.einsum.expression));
    const auto value = [](std::size_t) { return std::string("x"); };
    key.add(vertex_.einsum.epilogue == nullptr ? "" : to_string(*vertex_.einsum.epilogue, value, table_));
    key.add(vertex_.einsum.epilogue == nullptr ? 0 : hash_of(*vertex_.einsum.epilogue));
    key_ = key.take();
  }

  // Nodes may be shared; each is serialised once.
  std::uint64_t number_of(const ScalarExpression& e) {
    const auto known = number_of_node_.find(&e);
    if (known != number_of_node_.end()) return known->second;
    poll_cancellation_after(kStepsPerNode);
    const auto number = texts_.number_of(text_of(e));
    number_of_node_.emplace(&e, number);
    return number;
  }

  std::string text_of(const ScalarExpression& e) {
    Key key;
    key.add(static_cast<std::uint64_t>(e.kind()));
    key.add(e.type() ? static_cast<std::uint64_t>(*e.type()) : 0);
    switch (e.kind()) {
      case Kind::Integer: key.add(static_cast<std::uint64_t>(e.integer_value())); break;
      case Kind::Real: key.add(bits_of(e.real_value())); break;
      case Kind::Operand:
        CHECK(e.operand() < place_of_.size(), "an expression reads operands of its vertex");
        key.add(place_of_[e.operand()]);
        break;
      case Kind::LabelIndex: key.add(number_.at(e.label())); break;
      case Kind::Parameter:
        key.add(e.parameter());
        key.add(static_cast<std::uint64_t>(e.parameter_type()));
        break;
      case Kind::Uniform:
      case Kind::Normal:
        key.add(e.seed());
        add(key, numbers(e.cell()));
        break;
      case Kind::Call: {
        key.add(static_cast<std::uint64_t>(e.op()));
        std::vector<std::uint64_t> arguments;
        for (const auto& argument : e.arguments()) arguments.push_back(number_of(*argument));
        if (commutes(e)) std::sort(arguments.begin(), arguments.end());
        key.add(arguments.size());
        for (const auto argument : arguments) key.add(argument);
        break;
      }
    }
    return key.take();
  }

  static std::uint64_t bits_of(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }

  static constexpr std::size_t kStepsPerNode = 50;

  const Vertex& vertex_;
  const LabelTable& table_;
  KnownTexts& texts_;
  Numbers place_of_;
  std::unordered_map<Label, std::size_t> number_;
  std::unordered_map<const ScalarExpression*, std::uint64_t> number_of_node_;
  std::vector<std::int64_t> extents_;
  std::string key_;
  Numbers head_;
};

// All orders of operands that keep equal inputs adjacent; a single order if there are too many.
std::vector<Numbers> orders_of(const Vertex& vertex) {
  Numbers order(vertex.inputs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return vertex.inputs[a] < vertex.inputs[b]; });
  std::vector<std::pair<std::size_t, std::size_t>> runs;  // ranges of equal inputs
  std::size_t count = 1;
  for (std::size_t begin = 0, end = 0; begin < order.size() && count <= kMostOrders; begin = end) {
    for (end = begin; end < order.size() && vertex.inputs[order[begin]] == vertex.inputs[order[end]]; ++end)
      if (count <= kMostOrders) count *= end - begin + 1;
    if (end - begin > 1) runs.emplace_back(begin, end);
  }
  std::vector<Numbers> out{order};
  if (count > kMostOrders) return out;
  for (const auto& [begin, end] : runs) {
    const auto known = out.size();
    for (std::size_t n = 0; n < known; ++n) {
      auto next = out[n];
      const auto from = next.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto to = next.begin() + static_cast<std::ptrdiff_t>(end);
      while (std::next_permutation(from, to)) out.push_back(next);
    }
  }
  return out;
}

// The function of a vertex in canonical form, and the order of its dimensions: dimension d has the rank[d]-th smallest
// label number of the head.
struct CanonicalVertex {
  std::string key;
  Numbers rank;
};

Numbers ranks(const Numbers& numbers) {
  auto sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  Numbers out;
  for (const auto n : numbers)
    out.push_back(static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), n) - sorted.begin()));
  return out;
}

CanonicalVertex canonical_input(const Vertex& vertex) {
  Key key;
  key.add(std::uint64_t{0xFF});  // no element type
  key.add(vertex.stored->name);
  key.add(vertex.stored->selection ? vertex.stored->selection->to_string() : std::string());
  for (const auto parts : vertex.stored->grid.partition()) key.add(static_cast<std::uint64_t>(parts));
  Numbers rank(vertex.bound.rank());
  std::iota(rank.begin(), rank.end(), std::size_t{0});
  return {key.take(), std::move(rank)};
}

CanonicalVertex canonical(const Vertex& vertex, const LabelTable& table, KnownTexts& texts) {
  if (vertex.is_input()) return canonical_input(vertex);
  std::optional<std::pair<std::string, Numbers>> least;
  for (const auto& order : orders_of(vertex)) {
    Writing writing(vertex, table, texts, order);
    std::pair written{writing.key(), writing.head()};
    if (!least || written < *least) least = std::move(written);
  }
  CHECK(least.has_value(), "a vertex has an order of operands");
  return {std::move(least->first), ranks(least->second)};
}

// Permutes the labels of a reader from the dimension order of `rank` to the canonical order, or back.
Labels to_canonical(const Labels& labels, const Numbers& rank) {
  CHECK(labels.size() == rank.size(), "a vertex is read with a label for each dimension");
  Labels out(labels.size());
  for (std::size_t d = 0; d < labels.size(); ++d) out[rank[d]] = labels[d];
  return out;
}
Labels from_canonical(const Labels& labels, const Numbers& rank) {
  CHECK(labels.size() == rank.size(), "a representative has as many dimensions as what it stands for");
  Labels out;
  for (const auto r : rank) out.push_back(labels[r]);
  return out;
}

// The vertices of `graph` without duplicates; they read each other with dimensions in canonical order. Also, for each
// vertex, its representative (itself or an earlier one) and the order of its own dimensions.
struct Representatives {
  VertexList vertices;
  std::vector<std::size_t> of;
  std::vector<Numbers> rank;
};

bool is_identity(const Numbers& rank) {
  for (std::size_t d = 0; d < rank.size(); ++d)
    if (rank[d] != d) return false;
  return true;
}

// Whether all that a vertex reads is read as it is, dimension by dimension.
bool reads_in_order(const Vertex& vertex, const std::vector<Numbers>& rank) {
  return std::all_of(vertex.inputs.begin(), vertex.inputs.end(),
                     [&](VertexId input) { return is_identity(rank[input.index()]); });
}

Representatives find_representatives(const EinGraph& graph) {
  Representatives out;
  std::unordered_map<std::string, std::size_t> seen;
  KnownTexts texts;
  for (std::size_t n = 0; n < graph.size(); ++n) {
    const auto& old = graph.vertices()[n];
    const bool same_inputs = std::all_of(old.inputs.begin(), old.inputs.end(), [&](VertexId input) {
      CHECK(input.index() < out.of.size(), "what a vertex reads has a representative");
      return out.of[input.index()] == input.index();
    });
    if (same_inputs && reads_in_order(old, out.rank) && !has_equal_operands(old)) {
      out.vertices.push_back(graph.vertices(), n);
    } else {
      auto vertex = old;
      for (std::size_t i = 0; i < vertex.inputs.size(); ++i) {
        const auto input = vertex.inputs[i].index();
        vertex.einsum.inputs[i] = to_canonical(vertex.einsum.inputs[i], out.rank[input]);
        vertex.inputs[i] = VertexId(out.of[input]);
      }
      out.vertices.push_back(unite_operands(std::move(vertex)));
    }
    auto same = canonical(out.vertices.back(), graph.labels(), texts);
    out.of.push_back(seen.try_emplace(std::move(same.key), n).first->second);
    out.rank.push_back(std::move(same.rank));
  }
  return out;
}

// A copy of an output's representative, with the head and name that the statement gave this output.
Vertex copy_of(const EinGraph& graph, const Vertex& output, std::size_t representative, const Numbers& rank) {
  EinSum einsum;
  einsum.output = output.einsum.output;
  einsum.inputs = {to_canonical(einsum.output, rank)};
  einsum.expression = ScalarExpression::operand(0);
  auto copy = make_vertex(graph, output.name, {VertexId(representative)}, std::move(einsum));
  copy.dtype = output.dtype;
  return copy;
}

// Outputs keep the heads that the statement gave them, even if an earlier vertex computes the same. The first output
// among equal vertices replaces the earliest one, unless it is that itself; every later output becomes a copy of it.
void share_outputs(const EinGraph& graph, Representatives& known) {
  auto outputs = graph.outputs();
  std::sort(outputs.begin(), outputs.end());
  std::unordered_set<std::size_t> taken;
  for (const auto output : outputs) {
    const auto n = output.index();
    const auto earliest = known.of[n];
    if (taken.insert(earliest).second) {
      known.vertices.set(earliest, known.vertices[n]);
      known.rank[earliest] = known.rank[n];
    } else {
      known.vertices.set(n, copy_of(graph, known.vertices[n], earliest, known.rank[n]));
      known.of[n] = n;
    }
  }
}

// Whether no vertex reads one vertex twice, and no two of them can be equal: names differ of those that are stored, and
// what is read of the others.
bool all_differ(const EinGraph& graph) {
  std::vector<std::string_view> names;
  std::vector<std::vector<VertexId>> reads;
  for (const auto& vertex : graph.vertices()) {
    if (vertex.is_input()) {
      names.emplace_back(vertex.stored->name);
      continue;
    }
    auto& inputs = reads.emplace_back(vertex.inputs);
    std::sort(inputs.begin(), inputs.end());
    if (std::adjacent_find(inputs.begin(), inputs.end()) != inputs.end()) return false;
  }
  std::sort(names.begin(), names.end());
  std::sort(reads.begin(), reads.end());
  return std::adjacent_find(names.begin(), names.end()) == names.end() &&
         std::adjacent_find(reads.begin(), reads.end()) == reads.end();
}

}  // namespace

EinGraph unite_common_subexpressions(const EinGraph& graph) {
  if (all_differ(graph)) return graph;
  auto representatives = find_representatives(graph);
  share_outputs(graph, representatives);
  auto& [vertices, of, rank] = representatives;
  EinGraph out;
  out.labels() = graph.labels();
  std::vector<VertexId> now(vertices.size());
  for (std::size_t n = 0; n < vertices.size(); ++n) {
    CHECK(of[n] <= n, "the earliest of equal vertices stands for them");
    if (of[n] != n) {
      now[n] = now[of[n]];
      continue;
    }
    for (const auto input : vertices[n].inputs) CHECK(input.index() < n, "representatives come before their readers");
    if (!reads_in_order(vertices[n], rank)) {
      auto& vertex = vertices.change(n);
      for (std::size_t i = 0; i < vertex.inputs.size(); ++i)
        vertex.einsum.inputs[i] = from_canonical(vertex.einsum.inputs[i], rank[vertex.inputs[i].index()]);
    }
    now[n] = add_renumbered(out, vertices, n, now);
  }
  out.set_outputs(outputs_now(graph, now));
  return out;
}

}  // namespace eindb
