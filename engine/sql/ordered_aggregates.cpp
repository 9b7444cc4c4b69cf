// Aggregates that keep their rows and sort them in the end.
#include <algorithm>
#include <cmath>
#include <compare>
#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

#include "common/coded_error.hpp"
#include "engine/sql/aggregates.hpp"
#include "engine/sql/number_argument.hpp"
#include "storage/sqlite/kept_value.hpp"

namespace eindb {
namespace {

KeptValue kept(const SqliteValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<std::string>(&value)) return KeptText(text->begin(), text->end());
  if (std::holds_alternative<std::monostate>(value)) return std::monostate();
  throw CodedError("0A000", ErrorKind::Unsupported, "bytes have no order among the values of an aggregate",
                   "encode them as text: hex(...)");
}

SqliteValue given_back(const KeptValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<KeptText>(&value)) return std::string(text->begin(), text->end());
  return std::monostate();
}

bool is_null_value(const KeptValue& value) { return std::holds_alternative<std::monostate>(value); }

double real_of(const KeptValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  return std::get<double>(value);
}

/// Numbers before texts, texts by their bytes; neither is NULL.
std::weak_ordering compare(const KeptValue& a, const KeptValue& b) {
  const auto* const text_a = std::get_if<KeptText>(&a);
  const auto* const text_b = std::get_if<KeptText>(&b);
  if (text_a != nullptr && text_b != nullptr) return text_a->compare(*text_b) <=> 0;
  if (text_a != nullptr || text_b != nullptr)
    return text_a == nullptr ? std::weak_ordering::less : std::weak_ordering::greater;
  if (std::holds_alternative<std::int64_t>(a) && std::holds_alternative<std::int64_t>(b))
    return std::get<std::int64_t>(a) <=> std::get<std::int64_t>(b);
  const double real_a = real_of(a);
  const double real_b = real_of(b);
  return real_a < real_b   ? std::weak_ordering::less
         : real_a > real_b ? std::weak_ordering::greater
                           : std::weak_ordering::equivalent;
}

/// The direction of one key.
struct Direction {
  bool descends = false;
  bool nulls_first = false;
};

bool is_before(const KeptValue& a, const KeptValue& b, Direction direction) {
  if (is_null_value(a) || is_null_value(b))
    return is_null_value(a) != is_null_value(b) && is_null_value(direction.nulls_first ? a : b);
  return direction.descends ? compare(b, a) < 0 : compare(a, b) < 0;
}

// ---- Percentiles ---------------------------------------------------------------------------------------------------

/// Values without NULL, sorted when they are asked for.
class Sorted : public SqlAggregate {
 protected:
  void keep(const SqliteValue& value) {
    if (std::holds_alternative<std::monostate>(value)) return;
    values_.push_back(kept(value));
    sorted_ = false;
  }
  void keep_direction(const SqliteValue& descends) {
    descends_ = number_argument(descends, "an order").value_or(0) != 0;
  }
  const KeptList<KeptValue>& sorted() {
    const Direction direction{.descends = descends_};
    if (!sorted_)
      std::sort(values_.begin(), values_.end(),
                [&](const KeptValue& a, const KeptValue& b) { return is_before(a, b, direction); });
    sorted_ = true;
    return values_;
  }

 private:
  KeptList<KeptValue> values_;
  bool sorted_ = true;
  bool descends_ = false;
};

template <bool continuous>
class Percentile final : public Sorted {
 public:
  void add(std::span<const SqliteValue> arguments) override {
    constexpr auto kName = continuous ? "PERCENTILE_CONT" : "PERCENTILE_DISC";
    if (continuous) number_argument(arguments[0], kName);
    keep(arguments[0]);
    fraction_ = arguments.size() < 2 ? 0.5 : number_argument(arguments[1], kName);
    if (arguments.size() > 2) keep_direction(arguments[2]);
    if (fraction_ && !(*fraction_ >= 0 && *fraction_ <= 1))
      throw CodedError("22003", ErrorKind::Value,
                       "percentile value " + nlohmann::json(*fraction_).dump() + " is not between 0 and 1");
  }

  SqliteValue result() override {
    const auto& values = sorted();
    if (values.empty() || !fraction_) return {};
    const auto count = static_cast<double>(values.size());
    if constexpr (!continuous) {
      const double row = std::max(std::ceil(*fraction_ * count), 1.0);
      return given_back(values[static_cast<std::size_t>(row) - 1]);
    } else {
      const double place = *fraction_ * (count - 1);
      const auto at = [&](double row) { return real_of(values[static_cast<std::size_t>(row)]); };
      const double low = at(std::floor(place));
      const double high = at(std::ceil(place));
      if (low == high || place == std::floor(place)) return low;
      const double value = low + (place - std::floor(place)) * (high - low);
      if (!std::isnan(value)) return value;
      throw CodedError("22003", ErrorKind::Value, "the percentile lies between two infinities");
    }
  }

 private:
  std::optional<double> fraction_;
};

class Mode final : public Sorted {
 public:
  void add(std::span<const SqliteValue> arguments) override {
    keep(arguments[0]);
    if (arguments.size() > 1) keep_direction(arguments[1]);
  }

  SqliteValue result() override {
    const auto& values = sorted();
    std::size_t best = 0;
    std::size_t most = 0;
    for (std::size_t begin = 0; begin < values.size();) {
      auto end = begin + 1;
      while (end < values.size() && compare(values[begin], values[end]) == 0) ++end;
      if (end - begin > most) {
        best = begin;
        most = end - begin;
      }
      begin = end;
    }
    return values.empty() ? SqliteValue() : given_back(values[best]);
  }
};

// ---- Rows in an order ----------------------------------------------------------------------------------------------

/// Rows of `width` values and the keys that they are sorted by. The first row tells how many keys there are.
class OrderedRows {
 public:
  explicit OrderedRows(std::size_t width) : width_(width) {}

  void add(std::span<const SqliteValue> arguments) {
    if (arguments.size() < 1 + width_ || !std::holds_alternative<std::string>(arguments[0]))
      throw Error(ErrorKind::Type, "the first argument is the order: a letter for each key");
    read_order(std::get<std::string>(arguments[0]));
    if (arguments.size() != 1 + width_ + directions_.size())
      throw Error(ErrorKind::Type, "the order has a letter for each key");
    for (const auto& value : arguments.subspan(1)) values_.push_back(kept(value));
    ++count_;
  }

  /// Calls `take` with the values of each row, in order.
  template <class F>
  void each(F take) const {
    KeptList<std::size_t> order(count_);
    for (std::size_t row = 0; row < count_; ++row) order[row] = row;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return less(a, b); });
    for (std::size_t n = 0; n < count_; ++n)
      if (!distinct_ || n == 0 || differ(order[n - 1], order[n])) take(row(order[n]));
  }

 private:
  std::span<const KeptValue> row(std::size_t number) const {
    const auto stride = width_ + directions_.size();
    return {values_.data() + number * stride, stride};
  }

  void read_order(const std::string& letters) {
    if (count_ > 0) return;
    for (const char letter : letters) {
      if (letter == 'u') distinct_ = true;
      else directions_.push_back({letter == 'd' || letter == 'D', letter == 'A' || letter == 'D'});
    }
  }

  bool less(std::size_t a, std::size_t b) const {
    const auto row_a = row(a);
    const auto row_b = row(b);
    for (std::size_t n = 0; n < directions_.size(); ++n) {
      if (is_before(row_a[width_ + n], row_b[width_ + n], directions_[n])) return true;
      if (is_before(row_b[width_ + n], row_a[width_ + n], directions_[n])) return false;
    }
    for (std::size_t n = 0; distinct_ && n < width_; ++n) {
      if (is_before(row_a[n], row_b[n], {})) return true;
      if (is_before(row_b[n], row_a[n], {})) return false;
    }
    return false;
  }

  bool differ(std::size_t a, std::size_t b) const { return less(a, b) || less(b, a); }

  std::size_t width_;
  bool distinct_ = false;
  std::vector<Direction> directions_;
  KeptList<KeptValue> values_;
  std::size_t count_ = 0;
};

class OrderedText final : public SqlAggregate {
 public:
  void add(std::span<const SqliteValue> arguments) override {
    if (arguments.size() > 1 && std::holds_alternative<std::monostate>(arguments[1])) return;
    rows_.add(arguments);
    any_ = true;
  }

  SqliteValue result() override {
    if (!any_) return {};
    std::string out;
    bool first = true;
    rows_.each([&](std::span<const KeptValue> row) {
      if (!first) append(out, row[1]);
      append(out, row[0]);
      first = false;
    });
    return out;
  }

 private:
  static void append(std::string& out, const KeptValue& value) {
    if (const auto* text = std::get_if<KeptText>(&value)) out.append(text->data(), text->size());
    else if (const auto* integer = std::get_if<std::int64_t>(&value)) out += std::to_string(*integer);
    else if (const auto* real = std::get_if<double>(&value)) out += nlohmann::json(*real).dump();
  }

  OrderedRows rows_{2};
  bool any_ = false;
};

class OrderedJson final : public SqlAggregate {
 public:
  void add(std::span<const SqliteValue> arguments) override {
    rows_.add(arguments);
    any_ = true;
  }

  SqliteValue result() override {
    if (!any_) return {};
    auto array = nlohmann::json::array();
    rows_.each([&](std::span<const KeptValue> row) { array.push_back(json_of(row[0])); });
    return array.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

 private:
  static nlohmann::json json_of(const KeptValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
    if (const auto* text = std::get_if<KeptText>(&value)) return std::string(text->begin(), text->end());
    const auto* const real = std::get_if<double>(&value);
    if (real == nullptr) return nullptr;
    if (std::isinf(*real)) return *real > 0 ? "Infinity" : "-Infinity";
    return *real;
  }

  OrderedRows rows_{1};
  bool any_ = false;
};

}  // namespace

std::unique_ptr<SqlAggregate> percentile_cont() { return std::make_unique<Percentile<true>>(); }
std::unique_ptr<SqlAggregate> percentile_disc() { return std::make_unique<Percentile<false>>(); }
std::unique_ptr<SqlAggregate> median() { return std::make_unique<Percentile<true>>(); }
std::unique_ptr<SqlAggregate> mode() { return std::make_unique<Mode>(); }
std::unique_ptr<SqlAggregate> ordered_text() { return std::make_unique<OrderedText>(); }
std::unique_ptr<SqlAggregate> ordered_json() { return std::make_unique<OrderedJson>(); }

}  // namespace eindb
