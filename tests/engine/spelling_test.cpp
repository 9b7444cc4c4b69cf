// Statements in several spellings: as one product in any order and any parentheses, as definitions, with subscripts,
// distributed or factored, with a selection before or after. All are planned to about the same number of operations.
// The same statements over smaller extents, and over tensors of more absent tiles, are predicted to move no more
// elements.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "engine/session.hpp"
#include "engine/session/statement_scopes.hpp"

namespace eindb {
namespace {

constexpr int kSpelledStatements = 2000;
constexpr double kMostRatio = 3;
constexpr double kRounding = 1 + 1e-9;
constexpr const char* kFromLeft = " USING PATH 'left'";

using Random = std::mt19937_64;
using LabelNames = std::set<char>;

std::size_t draw(Random& random, std::size_t count) { return random() % count; }

struct SemiringText {
  std::string aggregate;
  std::string join;  // infix
  bool of_truths = false;
};

const std::vector<SemiringText>& semirings() {
  static const std::vector<SemiringText> kAll{{"SUM", " * "},       {"SUM", " * "},       {"MAX", " + "},
                                              {"MIN", " + "},       {"LOGSUMEXP", " + "}, {"ANY", " AND ", true},
                                              {"ALL", " OR ", true}};
  return kAll;
}

constexpr int kExtents[] = {2, 6, 20, 60};

// A tensor of each shape of one or two dimensions, and of small ones of three: D2_6 has extents 2 and 6.
std::string tensor_of(const std::vector<int>& extents) {
  std::string name = "D";
  for (const auto extent : extents) name += (name.size() == 1 ? "" : "_") + std::to_string(extent);
  return name;
}

std::string thinned_out(const std::vector<int>& extents, int level) {
  return tensor_of(extents) + "_S" + std::to_string(level);
}

std::vector<std::vector<int>> shapes() {
  std::vector<std::vector<int>> out;
  for (const auto a : kExtents) {
    out.push_back({a});
    for (const auto b : kExtents) {
      out.push_back({a, b});
      for (const auto c : kExtents)
        if (a * b * c <= 2400) out.push_back({a, b, c});
    }
  }
  return out;
}

class Spellings : public ::testing::Test {
 protected:
  void SetUp() override {
    // By itself the search for an order ends by the clock, when there is little to gain.
    session.execute("SET path_budget = 10");
    for (const auto& shape : shapes())
      session.execute("CREATE TENSOR " + tensor_of(shape) + " AS EINSUM T[" + head_of(shape) + "] = 1 + i");
  }

  static std::string head_of(const std::vector<int>& shape) {
    std::string head;
    for (std::size_t d = 0; d < shape.size(); ++d)
      head += (d == 0 ? "" : ", ") + std::string(1, static_cast<char>('i' + d)) + " " + std::to_string(shape[d]);
    return head;
  }

  // A tensor of two tiles along each dimension. All are there at level 0, and more and more are absent after that.
  void create_thinned_out(const std::vector<int>& shape, int level) {
    const auto name = thinned_out(shape, level);
    std::string parts;
    for (std::size_t d = 0; d < shape.size(); ++d) parts += d == 0 ? "2" : ", 2";
    std::string values;
    for (unsigned tile = 0; tile < 1U << shape.size(); ++tile) {
      if (tile != 0 && tile % 3 < static_cast<unsigned>(level)) continue;
      values += values.empty() ? "(" : ", (";
      for (std::size_t d = 0; d < shape.size(); ++d)
        values += std::to_string((tile >> d) % 2 == 0 ? 0 : shape[d] - 1) + ", ";
      values += "1)";
    }
    session.execute("CREATE TENSOR " + name + " (" + head_of(shape) + ") PARTITION (" + parts + ")");
    session.execute("INSERT INTO TENSOR " + name + " VALUES " + values);
  }

  // The number of operations of the plan.
  double flops(const std::string& statement) { return explained(statement, " as planned"); }

  // The elements that the plan is predicted to move.
  double elements(const std::string& statement) { return explained(statement, " elements moved"); }

  // The number before the first `words` of EXPLAIN.
  double explained(const std::string& statement, const std::string& words) {
    auto result = session.execute("EXPLAIN " + statement);
    Row row;
    std::string text;
    while (result.rows != nullptr && result.rows->next(row)) text += std::get<std::string>(row[0]) + "\n";
    const auto end = text.find(words);
    EXPECT_NE(end, std::string::npos) << text;
    const auto begin = text.rfind(' ', end - 1);
    std::string digits = text.substr(begin + 1, end - begin - 1);
    std::erase(digits, ',');
    return std::stod(digits);
  }

  // The values of the result's cells, in the order of their indices.
  std::vector<double> values(const std::string& statement) {
    auto result = session.execute(statement);
    std::map<std::vector<std::int64_t>, double> cells;
    Row row;
    while (result.rows != nullptr && result.rows->next(row)) {
      std::vector<std::int64_t> key;
      for (std::size_t n = 0; n + 1 < row.size(); ++n) key.push_back(std::get<std::int64_t>(row[n]));
      const auto* integer = std::get_if<std::int64_t>(&row.back());
      cells[key] = integer != nullptr ? static_cast<double>(*integer) : std::get<double>(row.back());
    }
    std::vector<double> out;
    for (const auto& [key, value] : cells) out.push_back(value);
    return out;
  }

  Session session{":memory:"};
};

// One factor: a tensor with labels.
struct Factor {
  std::string name;
  std::vector<char> labels;
};

std::string joined(const std::vector<char>& labels) {
  std::string out;
  for (const auto label : labels) out += (out.empty() ? "" : ",") + std::string(1, label);
  return out;
}

class Statement {
 public:
  explicit Statement(unsigned seed) : random_(seed), semiring_(semirings()[draw(random_, semirings().size())]) {
    const auto labels = 3 + draw(random_, 4);
    for (std::size_t n = 0; n < labels; ++n) extents_.push_back(kExtents[draw(random_, std::size(kExtents))]);
    const auto factors = 3 + draw(random_, 3);
    for (std::size_t n = 0; n < factors; ++n) add_factor();
    LabelNames present;
    for (const auto& factor : factors_) present.insert(factor.labels.begin(), factor.labels.end());
    for (const auto label : present)
      if (output_.size() < 3 && draw(random_, 3) == 0) output_.push_back(label);
    if (output_.size() == present.size()) output_.pop_back();
  }

  std::string plain() const { return one_product(texts()); }

  bool is_product() const { return semiring_.join == " * "; }

  // The labels that occur.
  LabelNames labels() const {
    LabelNames out;
    for (const auto& factor : factors_) out.insert(factor.labels.begin(), factor.labels.end());
    return out;
  }
  int extent(char label) const { return extents_[static_cast<std::size_t>(label - 'a')]; }

  // Reads tensors in which this label has another extent.
  void resize(char label, int extent) {
    extents_[static_cast<std::size_t>(label - 'a')] = extent;
    for (auto& factor : factors_) factor.name = tensor_of(shape_of(factor.labels));
  }

  // Reads tensors whose tiles are absent in part: `level` is 0 for none, then more and more.
  void thin_out(std::size_t factor, int level) {
    factors_[factor].name = thinned_out(shape_of(factors_[factor].labels), level);
  }
  std::size_t factor_count() const { return factors_.size(); }
  // Equal parts over one tensor are computed once; they are two computations when the tensors have different extents.
  bool repeats_a_tensor() const {
    std::set<std::string> names;
    for (const auto& factor : factors_) names.insert(factor.name);
    return names.size() < factors_.size();
  }

  std::vector<std::string> spellings() {
    std::vector<std::string> out{one_product(texts())};
    auto permuted = texts();
    std::shuffle(permuted.begin(), permuted.end(), random_);
    out.push_back(one_product(permuted));
    out.push_back(einsum(aggregate(nested(texts()))));
    out.push_back(definitions());
    out.push_back(join_first());
    if (is_product()) out.push_back(subscripts());
    return out;
  }

 private:
  std::vector<int> shape_of(const std::vector<char>& labels) const {
    std::vector<int> shape;
    for (const auto label : labels) shape.push_back(extent(label));
    return shape;
  }

  void add_factor() {
    for (;;) {
      std::vector<char> labels;
      const auto rank = 1 + (draw(random_, 6) == 0 ? 2 : draw(random_, 4) == 0 ? 0 : 1);
      while (labels.size() < std::min<std::size_t>(rank, extents_.size())) {
        const auto label = static_cast<char>('a' + draw(random_, extents_.size()));
        if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
      }
      const auto shape = shape_of(labels);
      const auto cells = std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
      if (labels.size() == 3 && cells > 2400) continue;
      factors_.push_back({tensor_of(shape), labels});
      return;
    }
  }

  std::string text(const Factor& factor) const {
    const auto read = factor.name + "[" + joined(factor.labels) + "]";
    return semiring_.of_truths ? "(" + read + " > 2)" : read;
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> out;
    for (const auto& factor : factors_) out.push_back(text(factor));
    return out;
  }

  std::string aggregate(const std::string& body) const { return semiring_.aggregate + "(" + body + ")"; }
  std::string einsum(const std::string& body) const { return "EINSUM Z[" + joined(output_) + "] = " + body; }
  std::string one_product(const std::vector<std::string>& factors) const {
    std::string body;
    for (const auto& factor : factors) body += (body.empty() ? "" : semiring_.join) + factor;
    return einsum(aggregate(body));
  }

  std::string nested(std::vector<std::string> factors) {
    while (factors.size() > 1) {
      const auto n = draw(random_, factors.size() - 1);
      factors[n] = "(" + factors[n] + semiring_.join + factors[n + 1] + ")";
      factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(n) + 1);
    }
    return factors.front();
  }

  // Pairs become definitions until one pair is left. Each aggregates what nothing else needs.
  std::string definitions() {
    auto factors = factors_;
    std::vector<std::string> as_text = texts();
    std::string with;
    for (int n = 0; factors.size() > 2; ++n) {
      const auto place = draw(random_, factors.size() - 1);
      const auto [a, b] = std::pair(factors[place], factors[place + 1]);
      const auto body = as_text[place] + semiring_.join + as_text[place + 1];
      factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(place),
                    factors.begin() + static_cast<std::ptrdiff_t>(place) + 2);
      as_text.erase(as_text.begin() + static_cast<std::ptrdiff_t>(place),
                    as_text.begin() + static_cast<std::ptrdiff_t>(place) + 2);
      LabelNames kept(output_.begin(), output_.end());
      for (const auto& factor : factors) kept.insert(factor.labels.begin(), factor.labels.end());
      Factor made{"Y" + std::to_string(n), {}};
      bool aggregates = false;
      LabelNames both(a.labels.begin(), a.labels.end());
      both.insert(b.labels.begin(), b.labels.end());
      for (const auto label : both) {
        if (kept.contains(label)) made.labels.push_back(label);
        else aggregates = true;
      }
      const auto read = made.name + "[" + joined(made.labels) + "]";
      with += (with.empty() ? "WITH " : ", ") + read + " = " + (aggregates ? aggregate(body) : body);
      factors.push_back(made);
      as_text.push_back(read);
    }
    return with + " " + one_product(as_text);
  }

  // The first two factors as a definition without an aggregate.
  std::string join_first() {
    LabelNames both(factors_[0].labels.begin(), factors_[0].labels.end());
    both.insert(factors_[1].labels.begin(), factors_[1].labels.end());
    const auto read = "Y[" + joined({both.begin(), both.end()}) + "]";
    auto rest = texts();
    const auto body = rest[0] + semiring_.join + rest[1];
    rest.erase(rest.begin(), rest.begin() + 2);
    rest.insert(rest.begin() + static_cast<std::ptrdiff_t>(draw(random_, rest.size() + 1)), read);
    return "WITH " + read + " = " + body + " " + one_product(rest);
  }

  std::string subscripts() const {
    std::string terms;
    std::string names;
    for (const auto& factor : factors_) {
      terms += (terms.empty() ? "" : ",") + std::string(factor.labels.begin(), factor.labels.end());
      names += (names.empty() ? "" : ", ") + factor.name;
    }
    return "EINSUM '" + terms + "->" + std::string(output_.begin(), output_.end()) + "' (" + names + ")";
  }

  Random random_;
  SemiringText semiring_;
  std::vector<int> extents_;
  std::vector<Factor> factors_;
  std::vector<char> output_;
};

TEST_F(Spellings, ArePlannedAlike) {
  int worse = 0;
  double worst = 1;
  for (unsigned seed = 0; seed < kSpelledStatements; ++seed) {
    const auto spellings = Statement(seed).spellings();
    std::vector<double> found;
    for (const auto& spelling : spellings) found.push_back(flops(spelling));
    const auto [least, most] = std::minmax_element(found.begin(), found.end());
    const auto ratio = *most / std::max(*least, 1.0);
    worst = std::max(worst, ratio);
    if (ratio <= kMostRatio) continue;
    if (++worse > 12) continue;
    std::cout << "statement " << seed << ": " << *least << " operations as\n"
              << spellings[static_cast<std::size_t>(least - found.begin())] << "\nand " << *most << " as\n"
              << spellings[static_cast<std::size_t>(most - found.begin())] << "\n";
  }
  // Where MAX leaves a sum without an aggregate, the sum is rounded in the order in which it is written.
  constexpr int kMostSums = 1;
  EXPECT_LE(worse, kMostSums) << "of " << kSpelledStatements << " statements";
  RecordProperty("worst_ratio", std::to_string(worst));
}

TEST_F(Spellings, HaveTheSameValues) {
  constexpr double kMostOperations = 2e6;
  int compared = 0;
  for (unsigned seed = 0; seed < kSpelledStatements; seed += 5) {
    const auto spellings = Statement(seed).spellings();
    if (flops(spellings.front()) > kMostOperations) continue;
    const auto expected = values(spellings.front());
    for (const auto& spelling : spellings) {
      const auto found = values(spelling);
      ASSERT_EQ(found.size(), expected.size()) << spelling;
      for (std::size_t n = 0; n < found.size(); ++n)
        ASSERT_NEAR(found[n], expected[n], 1e-11 * std::abs(expected[n])) << spelling << "\n" << spellings.front();
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000);
}

TEST_F(Spellings, SmallerExtentsMoveNoMoreElements) {
  // Orders are chosen by operations, so that fewer of them may move more elements.
  constexpr int kMostByAnotherOrder = 6;
  constexpr double kMostIncrease = 1.5;
  session.execute("SET cost_model = 'transfers'");
  session.execute("SET parallelism = 4");
  // A chain is cut along its rows alone, by a rule: an extent may be too small for the one that moves least.
  constexpr int kMostByChains = 2;
  int tried = 0;
  int increases = 0;
  int by_chains = 0;
  for (unsigned seed = 0; seed < kSpelledStatements; ++seed) {
    Statement statement(seed);
    if (statement.repeats_a_tensor()) continue;
    const auto text = statement.plain();
    const double before = elements(text);
    const double before_in_order = statement.is_product() ? elements(text + kFromLeft) : 0;
    for (const auto label : statement.labels()) {
      const auto extent = statement.extent(label);
      if (extent == kExtents[0]) continue;
      statement.resize(label, *(std::find(std::begin(kExtents), std::end(kExtents), extent) - 1));
      const auto after = elements(statement.plain());
      ++tried;
      increases += after > before * kRounding ? 1 : 0;
      EXPECT_LE(after, before * kMostIncrease) << text << "\n" << statement.plain();
      if (statement.is_product()) {
        const auto in_order = elements(statement.plain() + kFromLeft);
        by_chains += in_order > before_in_order * kRounding ? 1 : 0;
        EXPECT_LE(in_order, before_in_order * kMostIncrease) << text << "\n" << statement.plain();
      }
      statement.resize(label, extent);
    }
  }
  EXPECT_GT(tried, 2000);
  EXPECT_LE(increases, kMostByAnotherOrder) << "of " << tried;
  EXPECT_LE(by_chains, kMostByChains) << "of " << tried;
}

TEST_F(Spellings, MoreAbsentTilesMoveNoMoreElements) {
  constexpr int kLevels = 3;
  for (const auto& shape : shapes())
    for (int level = 0; level < kLevels; ++level) create_thinned_out(shape, level);
  session.execute("SET cost_model = 'transfers'");
  session.execute("SET parallelism = 4");
  int tried = 0;
  for (unsigned seed = 0; seed < kSpelledStatements; ++seed) {
    Statement statement(seed);
    if (statement.repeats_a_tensor()) continue;
    for (std::size_t n = 0; n < statement.factor_count(); ++n) statement.thin_out(n, 0);
    auto before = elements(statement.plain());
    for (int level = 1; level < kLevels; ++level) {
      for (std::size_t n = 0; n < statement.factor_count(); ++n) {
        statement.thin_out(n, level);
        const auto after = elements(statement.plain());
        ++tried;
        EXPECT_LE(after, before * kRounding) << statement.plain();
        before = after;
      }
    }
  }
  EXPECT_GT(tried, 5000);
}

}  // namespace
}  // namespace eindb
