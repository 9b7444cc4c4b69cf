#include "tests/engine/random_statement.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace eindb::testing {
namespace {

using Value = std::complex<double>;

// Values for which FLOAT32 sums and products of a few references are exact, so that comparisons have one right answer.
double round_constant(std::size_t n) { return (static_cast<double>(n) - 4) / 4; }

Value element(const DenseTensor& tensor, std::int64_t offset) {
  return dispatch(tensor.dtype(), [&](auto t) -> Value {
    using T = typename decltype(t)::type;
    const auto value = tensor.data<T>()[offset];
    if constexpr (std::is_arithmetic_v<T>) return static_cast<double>(value);
    else return Value(value.real(), value.imag());
  });
}

// Functions of slope at most e, so that errors do not grow.
Value unary(const std::string& op, Value x) {
  if (op == "-") return -x;
  if (op == "SIN") return std::sin(x);
  if (op == "TANH") return std::tanh(x.real());
  if (op == "SIGMOID") return 1 / (1 + std::exp(-x.real()));
  if (op == "RELU") return std::max(0.0, x.real());
  if (op == "ABS") return std::abs(x);
  if (op == "REAL") return x.real();
  if (op == "IMAG") return x.imag();
  if (op == "CONJ") return std::conj(x);
  return x.real() == 0 && x.imag() == 0 ? 1 : 0;  // NOT
}

Value binary(const std::string& op, Value x, Value y) {
  if (op == "+") return x + y;
  if (op == "-") return x - y;
  if (op == "*") return x * y;
  if (op == "=") return x == y ? 1 : 0;
  if (op == "<>") return x != y ? 1 : 0;
  if (op == "<") return x.real() < y.real() ? 1 : 0;
  if (op == "<=") return x.real() <= y.real() ? 1 : 0;
  if (op == "AND") return x != 0.0 && y != 0.0 ? 1 : 0;
  if (op == "LEAST") return std::min(x.real(), y.real());
  return std::max(x.real(), y.real());  // GREATEST
}

bool advance(Cell& cell, const std::vector<std::size_t>& over) {
  for (auto n = over.size(); n-- > 0;) {
    if (++cell[over[n]] < kLabelExtents[over[n]]) return true;
    cell[over[n]] = 0;
  }
  return false;
}

Value aggregate(const std::string& op, const std::vector<Value>& values) {
  Value sum = 0;
  Value product = 1;
  std::size_t best = 0;
  std::int64_t count = 0;
  double exponentials = 0;
  for (std::size_t n = 0; n < values.size(); ++n) {
    sum += values[n];
    product *= values[n];
    count += values[n] != 0.0 ? 1 : 0;
    exponentials += std::exp(values[n].real());
    const bool least = op == "MIN" || op == "ARGMIN";
    if (least ? values[n].real() < values[best].real() : values[n].real() > values[best].real()) best = n;
  }
  const auto size = static_cast<std::int64_t>(values.size());
  if (op == "SUM") return sum;
  if (op == "PROD") return product;
  if (op == "MEAN") return sum / static_cast<double>(size);
  if (op == "MIN" || op == "MAX" || op == "BIGGEST") return values[best].real();
  if (op == "LATEST") return values.back();
  if (op == "ARGMIN" || op == "ARGMAX") return static_cast<double>(best);
  if (op == "LOGSUMEXP") return std::log(exponentials);
  if (op == "ANY") return count > 0 ? 1 : 0;
  if (op == "ALL") return count == size ? 1 : 0;
  return static_cast<double>(count);
}

Value aggregate_magnitudes(const std::string& op, const std::vector<Value>& values) {
  double sum = 0;
  double product = 1;
  double largest = 0;
  for (const auto& value : values) {
    sum += value.real();
    product *= value.real();
    largest = std::max(largest, value.real());
  }
  if (op == "SUM" || op == "MEAN") return sum;
  if (op == "PROD") return product;
  if (op == "ARGMIN" || op == "ARGMAX" || op == "ANY" || op == "ALL" || op == "COUNT_NONZERO") return 1;
  return largest + std::log(static_cast<double>(values.size()) + 1);
}

std::string list_of(const std::vector<std::size_t>& labels) {
  std::string out;
  for (const auto label : labels) out += (out.empty() ? "" : ",") + label_name(label);
  return out;
}

std::string number_text(double value) {
  if (value == std::floor(value)) return std::to_string(static_cast<std::int64_t>(value));
  std::string text = std::to_string(value);
  return text;
}

}  // namespace

std::string label_name(std::size_t label) { return std::string(1, static_cast<char>('a' + label)); }

std::string Node::text() const {
  switch (kind) {
    case Kind::Constant: return "(" + number_text(constant) + ")";
    case Kind::LabelValue: return label_name(label);
    case Kind::Reference: {
      std::string out = tensor->name + "[";
      for (std::size_t d = 0; d < labels.size(); ++d)
        out += (d == 0 ? "" : ",") + (labels[d] ? label_name(*labels[d]) : std::to_string(held[d]));
      return out + "]";
    }
    case Kind::Unary:
      if (op == "-" || op == "NOT") return "(" + op + " " + children[0].text() + ")";
      return op + "(" + children[0].text() + ")";
    case Kind::Binary:
      if (op == "LEAST" || op == "GREATEST") return op + "(" + children[0].text() + ", " + children[1].text() + ")";
      return "(" + children[0].text() + " " + op + " " + children[1].text() + ")";
    case Kind::Case:
      return "CASE WHEN " + children[0].text() + " THEN " + children[1].text() + " ELSE " + children[2].text() + " END";
    case Kind::Aggregate: return op + (is_explicit ? "[" + list_of(over) + "]" : "") + "(" + children[0].text() + ")";
  }
  return "";
}

Value Node::value(Cell& cell, bool magnitudes) const {
  switch (kind) {
    case Kind::Constant: return magnitudes ? std::abs(constant) : constant;
    case Kind::LabelValue: return static_cast<double>(cell[label]);
    case Kind::Reference: {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < labels.size(); ++d)
        offset = offset * tensor->values->shape()[d] + (labels[d] ? cell[*labels[d]] : held[d]);
      const auto found = element(*tensor->values, offset);
      return magnitudes ? std::abs(found) : found;
    }
    case Kind::Unary: {
      const auto x = children[0].value(cell, magnitudes);
      return magnitudes ? x : unary(op, x);
    }
    case Kind::Binary: {
      const auto x = children[0].value(cell, magnitudes);
      const auto y = children[1].value(cell, magnitudes);
      if (magnitudes) return op == "*" ? x * y : x + y + 1.0;
      return binary(op, x, y);
    }
    case Kind::Case: {
      if (magnitudes) return children[1].value(cell, true) + children[2].value(cell, true);
      return children[children[0].value(cell, false) != 0.0 ? 1 : 2].value(cell, false);
    }
    case Kind::Aggregate: {
      const Cell outer = cell;
      for (const auto l : over) cell[l] = 0;
      std::vector<Value> values;
      do {
        values.push_back(children[0].value(cell, magnitudes));
      } while (advance(cell, over));
      cell = outer;
      return magnitudes ? aggregate_magnitudes(op, values) : aggregate(op, values);
    }
  }
  return 0;
}

std::vector<std::size_t> Node::free_labels() const {
  std::set<std::size_t> out;
  if (kind == Kind::LabelValue) out.insert(label);
  for (const auto& l : labels)
    if (l) out.insert(*l);
  for (const auto& child : children)
    for (const auto l : child.free_labels()) out.insert(l);
  for (const auto l : over) out.erase(l);
  return {out.begin(), out.end()};
}

bool Node::is_complex() const {
  if (kind == Kind::Reference) return eindb::is_complex(tensor->values->dtype());
  if (op == "ABS" || op == "REAL" || op == "IMAG" || op == "NOT" || op == "=" || op == "<>") return false;
  return std::any_of(children.begin(), children.end(), [](const Node& child) { return child.is_complex(); });
}

bool Node::reads_single_precision() const {
  if (kind == Kind::Reference)
    return tensor->values->dtype() == DType::Float32 || tensor->values->dtype() == DType::Complex64;
  return std::any_of(children.begin(), children.end(), [](const Node& c) { return c.reads_single_precision(); });
}

const KnownTensor& StatementGenerator::pick_tensor(bool real) {
  while (true) {
    const auto& tensor = tensors_[below(tensors_.size())];
    if (!real || !eindb::is_complex(tensor.values->dtype())) return tensor;
  }
}

Node StatementGenerator::reference(bool real, bool constants) {
  Node node;
  node.kind = Node::Kind::Reference;
  node.tensor = &pick_tensor(real);
  for (const auto extent : node.tensor->values->shape().extents()) {
    std::vector<std::size_t> fitting;
    for (std::size_t label = 0; label < kLabelExtents.size(); ++label)
      if (kLabelExtents[label] == extent) fitting.push_back(label);
    const bool held = constants && chance(15);
    node.held.push_back(held ? static_cast<std::int64_t>(below(static_cast<std::size_t>(extent))) : 0);
    if (held) node.labels.emplace_back(std::nullopt);
    else node.labels.emplace_back(fitting[below(fitting.size())]);
  }
  return node;
}

// Real sums and products of a few references, which are exact in every type.
Node StatementGenerator::exact(int references) {
  auto node = reference(true, true);
  for (int n = 1; n < references; ++n) {
    Node both;
    both.kind = Node::Kind::Binary;
    both.op = chance(50) ? "*" : chance(50) ? "+" : "-";
    both.children = {std::move(node), reference(true, true)};
    node = std::move(both);
  }
  return node;
}

Node StatementGenerator::condition() {
  Node node;
  node.kind = Node::Kind::Binary;
  static const std::array<const char*, 4> kComparisons{"=", "<>", "<", "<="};
  node.op = kComparisons[below(kComparisons.size())];
  Node constant;
  constant.constant = round_constant(below(9));
  node.children = {exact(1), std::move(constant)};
  return node;
}

Node StatementGenerator::expression(int references) {
  Node node;
  if (references <= 1) {
    node = reference(chance(60), true);
    if (chance(25)) {
      Node call;
      call.kind = Node::Kind::Unary;
      static const std::array<const char*, 5> kReal{"SIN", "TANH", "SIGMOID", "RELU", "-"};
      static const std::array<const char*, 5> kComplex{"ABS", "REAL", "IMAG", "CONJ", "-"};
      call.op = (node.is_complex() ? kComplex : kReal)[below(5)];
      call.children = {std::move(node)};
      return call;
    }
    const auto labels = node.free_labels();
    if (chance(15) && !labels.empty()) {
      Node value;
      value.kind = Node::Kind::LabelValue;
      value.label = labels[below(labels.size())];
      Node product;
      product.kind = Node::Kind::Binary;
      product.op = chance(50) ? "*" : "+";
      product.children = {std::move(node), std::move(value)};
      return product;
    }
    return node;
  }
  if (chance(12) && references >= 3) {
    node.kind = Node::Kind::Case;
    node.children = {condition(), expression(references - 2), expression(1)};
    return node;
  }
  const int left = 1 + static_cast<int>(below(static_cast<std::size_t>(references - 1)));
  node.kind = Node::Kind::Binary;
  node.children = {expression(left), expression(references - left)};
  node.op = chance(65) ? "*" : chance(60) ? "+" : "-";
  if (chance(8) && !node.is_complex()) node.op = chance(50) ? "LEAST" : "GREATEST";
  const auto labels = node.free_labels();
  if (chance(15) && !labels.empty()) {
    const auto label = labels[below(labels.size())];
    return aggregated(std::move(node), {label}, false);
  }
  return node;
}

Node StatementGenerator::aggregated(Node argument, std::vector<std::size_t> over, bool is_exact) {
  Node node;
  node.kind = Node::Kind::Aggregate;
  static const std::array<const char*, 3> kAny{"SUM", "SUM", "MEAN"};
  static const std::array<const char*, 10> kReal{"SUM", "SUM",       "SUM",  "MEAN",    "MIN",
                                                 "MAX", "LOGSUMEXP", "PROD", "BIGGEST", "LATEST"};
  static const std::array<const char*, 5> kExact{"ARGMIN", "ARGMAX", "ANY", "ALL", "COUNT_NONZERO"};
  if (argument.is_complex()) node.op = kAny[below(kAny.size())];
  else if (is_exact) node.op = over.size() == 1 ? kExact[below(5)] : kExact[2 + below(3)];
  else node.op = kReal[below(kReal.size())];
  node.over = std::move(over);
  node.children = {std::move(argument)};
  return node;
}

std::vector<std::size_t> StatementGenerator::shuffled(std::vector<std::size_t> labels) {
  for (auto n = labels.size(); n > 1; --n) std::swap(labels[n - 1], labels[below(n)]);
  return labels;
}

RandomStatement StatementGenerator::index_notation() {
  RandomStatement out;
  const bool is_exact = chance(20);
  auto body = is_exact ? exact(1 + static_cast<int>(below(2))) : expression(1 + static_cast<int>(below(6)));
  auto labels = shuffled(body.free_labels());
  const auto kept = chance(25) ? labels.size() : below(labels.size() + 1);
  out.head.assign(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(kept));
  std::vector<std::size_t> over(labels.begin() + static_cast<std::ptrdiff_t>(kept), labels.end());
  std::sort(over.begin(), over.end());
  if (!over.empty() || is_exact) {
    body = aggregated(std::move(body), over, is_exact);
    body.is_explicit = (chance(50) || body.op == "LATEST") && !over.empty();
  }
  if (!out.head.empty() && chance(10)) out.head.push_back(out.head[below(out.head.size())]);
  std::string head = list_of(out.head);
  if (chance(8) && labels.size() < kLabelExtents.size()) {
    // A label that no reference has: a broadcast.
    std::size_t label = below(kLabelExtents.size());
    const auto taken = body.text();
    while (std::count(labels.begin(), labels.end(), label) != 0) label = (label + 1) % kLabelExtents.size();
    if (taken.find(label_name(label)) == std::string::npos) {
      out.head.push_back(label);
      head += (head.empty() ? "" : ",") + label_name(label) + " " + std::to_string(kLabelExtents[label]);
    }
  }
  out.text = "EINSUM Z[" + head + "] = " + body.text();
  out.expression = std::move(body);
  return out;
}

RandomStatement StatementGenerator::subscript_notation() {
  const auto operands = 1 + below(6);
  std::vector<std::string> terms;
  std::string names;
  Node product;
  for (std::size_t n = 0; n < operands; ++n) {
    auto factor = reference(false, false);
    terms.emplace_back();
    for (const auto& label : factor.labels) terms.back() += label_name(*label);
    names += (n == 0 ? "" : ", ") + factor.tensor->name;
    if (n == 0) {
      product = std::move(factor);
      continue;
    }
    Node both;
    both.kind = Node::Kind::Binary;
    both.op = "*";
    both.children = {std::move(product), std::move(factor)};
    product = std::move(both);
  }
  RandomStatement out;
  const auto labels = shuffled(product.free_labels());
  const auto kept = below(labels.size() + 1);
  out.head.assign(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(kept));
  if (!out.head.empty() && chance(10)) out.head.push_back(out.head[below(out.head.size())]);
  std::string subscripts;
  const bool nested = operands > 2 && chance(30);
  for (std::size_t n = 0; n < operands; ++n)
    subscripts +=
        (n == 0 ? "" : ",") + std::string(nested && n == 1 ? "(" : "") + terms[n] + (nested && n == 2 ? ")" : "");
  subscripts += "->";
  for (const auto label : out.head) subscripts += label_name(label);
  out.text = "EINSUM '" + subscripts + "' (" + names + ")";
  if (!nested && operands > 1 && chance(30)) out.text += " USING PATH 'left'";
  else if (!nested && operands == 3 && chance(50)) out.text += " USING PATH ((0,2),(0,1))";

  Node sum;
  sum.kind = Node::Kind::Aggregate;
  sum.op = "SUM";
  for (const auto label : product.free_labels())
    if (std::count(out.head.begin(), out.head.end(), label) == 0) sum.over.push_back(label);
  sum.children = {std::move(product)};
  out.expression = std::move(sum);
  return out;
}

}  // namespace eindb::testing
