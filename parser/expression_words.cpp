#include "parser/expression_words.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numbers>

#include "common/letter_case.hpp"

namespace eindb {
namespace {

using ast::InfixOp;
using words::AggregateName;
using words::Constant;
using words::Level;
using words::Operator;

constexpr std::array kSymbolOperators = {
    Operator{"*", InfixOp::Multiply, Level::Multiplicative},
    Operator{"+", InfixOp::Add, Level::Additive},
    Operator{"-", InfixOp::Subtract, Level::Additive},
    Operator{"/", InfixOp::Divide, Level::Multiplicative},
    Operator{"%", InfixOp::Modulo, Level::Multiplicative},
    Operator{"^", InfixOp::Power, Level::Power},
    Operator{"**", InfixOp::Power, Level::Power},
    Operator{"=", InfixOp::Equal, Level::Comparison},
    Operator{"==", InfixOp::Equal, Level::Comparison},
    Operator{"<>", InfixOp::NotEqual, Level::Comparison},
    Operator{"!=", InfixOp::NotEqual, Level::Comparison},
    Operator{"<", InfixOp::Less, Level::Comparison},
    Operator{"<=", InfixOp::LessEqual, Level::Comparison},
    Operator{">", InfixOp::Greater, Level::Comparison},
    Operator{">=", InfixOp::GreaterEqual, Level::Comparison},
    Operator{"&", InfixOp::BitAnd, Level::Bits},
    Operator{"|", InfixOp::BitOr, Level::Bits},
    Operator{"<<", InfixOp::ShiftLeft, Level::Bits},
    Operator{">>", InfixOp::ShiftRight, Level::Bits},
};

constexpr std::array kWordOperators = {
    Operator{"AND", InfixOp::And, Level::And},
    Operator{"OR", InfixOp::Or, Level::Or},
    Operator{"XOR", InfixOp::Xor, Level::Xor},
};

constexpr std::array kAggregates = {
    AggregateName{"SUM", ast::AggregateOp::Sum},
    AggregateName{"PROD", ast::AggregateOp::Prod},
    AggregateName{"MIN", ast::AggregateOp::Min},
    AggregateName{"MAX", ast::AggregateOp::Max},
    AggregateName{"MEAN", ast::AggregateOp::Mean},
    AggregateName{"NORM", ast::AggregateOp::Norm},
    AggregateName{"LOGSUMEXP", ast::AggregateOp::LogSumExp},
    AggregateName{"ARGMIN", ast::AggregateOp::ArgMin},
    AggregateName{"ARGMAX", ast::AggregateOp::ArgMax},
    AggregateName{"ANY", ast::AggregateOp::Any},
    AggregateName{"ALL", ast::AggregateOp::All},
    AggregateName{"COUNT", ast::AggregateOp::Count},
    AggregateName{"COUNT_NONZERO", ast::AggregateOp::CountNonzero},
    AggregateName{"AVG", ast::AggregateOp::Mean},
    AggregateName{"VAR", ast::AggregateOp::Variance},
    AggregateName{"STD", ast::AggregateOp::Deviation},
    AggregateName{"VARIANCE", ast::AggregateOp::SampleVariance},
    AggregateName{"STDDEV", ast::AggregateOp::SampleDeviation},
    AggregateName{"SORT", ast::AggregateOp::Sort},
    AggregateName{"ARGSORT", ast::AggregateOp::ArgSort},
    AggregateName{"TOPK", ast::AggregateOp::TopK},
    AggregateName{"ARGTOPK", ast::AggregateOp::ArgTopK},
    AggregateName{"UNIQUE", ast::AggregateOp::Unique},
    AggregateName{"UNIQUE_INDEX", ast::AggregateOp::UniqueIndex},
    AggregateName{"UNIQUE_COUNT", ast::AggregateOp::UniqueCount},
    AggregateName{"UNIQUE_INVERSE", ast::AggregateOp::UniqueInverse},
    AggregateName{"QUANTILE", ast::AggregateOp::Quantile},
    AggregateName{"MEDIAN", ast::AggregateOp::Median},
    AggregateName{"MODE", ast::AggregateOp::Mode},
    AggregateName{"COUNT_DISTINCT", ast::AggregateOp::CountDistinct},
    AggregateName{"FFT", ast::AggregateOp::Fft},
    AggregateName{"IFFT", ast::AggregateOp::Ifft},
    AggregateName{"RFFT", ast::AggregateOp::Rfft},
    AggregateName{"IRFFT", ast::AggregateOp::Irfft},
    AggregateName{"CONCAT", ast::AggregateOp::Concat},
    AggregateName{"STACK", ast::AggregateOp::Stack},
};

/// CUMSUM[j](e) is SCAN[j](SUM, e), and so on.
constexpr std::array kRunning = {
    AggregateName{"CUMSUM", ast::AggregateOp::Sum},
    AggregateName{"CUMPROD", ast::AggregateOp::Prod},
    AggregateName{"CUMMIN", ast::AggregateOp::Min},
    AggregateName{"CUMMAX", ast::AggregateOp::Max},
    AggregateName{"CUMLOGSUMEXP", ast::AggregateOp::LogSumExp},
};

constexpr std::array kConstants = {
    Constant{"PI", std::numbers::pi},
    Constant{"INFINITY", std::numeric_limits<double>::infinity()},
    Constant{"INF", std::numeric_limits<double>::infinity()},
    Constant{"NAN", std::numeric_limits<double>::quiet_NaN()},
    Constant{"NULL", std::numeric_limits<double>::quiet_NaN()},  // as SQL shows NaN
};

/// Words that end or join expressions, and so cannot be unquoted names in them.
constexpr std::array<std::string_view, 9> kReserved = {"AND", "OR", "WHEN",  "THEN",  "ELSE",
                                                       "END", "AS", "USING", "EINSUM"};

/// The entry named by `word`, in any case; null if there is none.
template <class Table>
const typename Table::value_type* find_word(const Table& table, const Token& word) {
  if (word.kind != Token::Kind::Word) return nullptr;
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const auto& entry) { return equal_ignoring_case(entry.text, word.text); });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace

namespace words {

bool is_reserved(const Token& word) {
  return word.kind == Token::Kind::Word &&
         std::any_of(kReserved.begin(), kReserved.end(),
                     [&](std::string_view reserved) { return equal_ignoring_case(reserved, word.text); });
}

const Operator* find_operator(const Token& token) {
  if (!token.is_symbol()) return find_word(kWordOperators, token);
  const auto* const found = std::find_if(kSymbolOperators.begin(), kSymbolOperators.end(),
                                         [&](const Operator& entry) { return entry.text == token.text; });
  return found == kSymbolOperators.end() ? nullptr : found;
}

const AggregateName* find_aggregate(const Token& word) { return find_word(kAggregates, word); }
const AggregateName* find_running(const Token& word) { return find_word(kRunning, word); }
const Constant* find_constant(const Token& word) { return find_word(kConstants, word); }

}  // namespace words

bool may_be_macro(std::string_view aggregate) { return equal_ignoring_case(aggregate, "NORM"); }

std::vector<std::string_view> aggregate_names() {
  std::vector<std::string_view> names;
  for (const auto& aggregate : kAggregates) names.push_back(aggregate.text);
  for (const auto& aggregate : kRunning) names.push_back(aggregate.text);
  names.push_back(words::kScan);
  return names;
}

}  // namespace eindb
