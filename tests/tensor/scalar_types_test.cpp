#include "tensor/scalar_types.hpp"

#include <gtest/gtest.h>

#include "common/error.hpp"
#include "tests/tensor/scalar_builders.hpp"

namespace eindb {
namespace {

using E = ScalarExpression;
using enum ScalarOp;

// Operands 0 to 3: n INT64, f FLOAT32, d FLOAT64, z COMPLEX64.
constexpr DType kTypes[] = {DType::Int64, DType::Float32, DType::Float64, DType::Complex64};
ScalarPtr n() { return E::operand(0); }
ScalarPtr f() { return E::operand(1); }
ScalarPtr d() { return E::operand(2); }
ScalarPtr z() { return E::operand(3); }
ScalarPtr whole(std::int64_t value) { return E::integer(value); }

std::string suffix(std::optional<DType> type) { return type ? ":" + std::string(name_of(*type)) : ""; }

// Formats the expression with the types of constants and label values.
std::string text(const ScalarExpression& e) {
  static const std::string kOperands = "nfxz";
  if (e.kind() == E::Kind::Operand) return std::string(1, kOperands[e.operand()]);
  if (e.kind() == E::Kind::LabelIndex) return "label" + suffix(e.type());
  if (e.kind() == E::Kind::Integer) return std::to_string(e.integer_value()) + suffix(e.type());
  if (e.kind() == E::Kind::Real) return std::to_string(e.real_value()).substr(0, 3) + suffix(e.type());
  const auto type = converts_to(e.op());
  std::string out = type ? std::string(name_of(*type)) : std::string(info_of(e.op()).name);
  out += "(";
  for (std::size_t a = 0; a < e.arguments().size(); ++a) out += (a == 0 ? "" : " ") + text(*e.arguments()[a]);
  return out + ")";
}

class ScalarTypes : public ::testing::Test {
 protected:
  std::string typed(const ScalarPtr& e, std::optional<DType> wanted = std::nullopt) {
    const auto result = with_types(e, kTypes, labels_, wanted);
    const auto type = wanted ? *wanted : type_of(*e, kTypes).dtype;
    EXPECT_TRUE(has_types(*result, kTypes, type)) << text(*result);
    EXPECT_EQ(written_type(*result, kTypes), type) << text(*result);
    EXPECT_EQ(with_types(result, kTypes, labels_, type), result) << "types that are written down stay";
    return text(*result);
  }

  LabelTable labels_;
  ScalarPtr short_label_ = E::label_index(labels_.add("i", 100));
  ScalarPtr long_label_ = E::label_index(labels_.add("j", std::int64_t{1} << 30U));
};

TEST_F(ScalarTypes, EachOperationComputesInTheTypeOfItsOwnOperands) {
  EXPECT_EQ(typed(call(Multiply, {call(Modulo, {n(), whole(10)}), d()})), "*(FLOAT64(%(n 10:INT64)) x)");
  EXPECT_EQ(typed(call(Divide, {call(Multiply, {n(), n()}), whole(1)})), "/(FLOAT64(*(n n)) 1:FLOAT64)");
  EXPECT_EQ(typed(call(Multiply, {call(Multiply, {f(), f()}), d()})), "*(FLOAT64(*(f f)) x)");
  EXPECT_EQ(typed(call(Multiply, {call(Abs, {z()}), f()})), "*(ABS(z) f)");
  EXPECT_EQ(typed(call(MakeComplex, {f(), whole(1)})), "COMPLEX(f 1:FLOAT32)");
}

TEST_F(ScalarTypes, SumsOfManyAreTakenFromTheLeft) {
  EXPECT_EQ(typed(call(Add, {n(), n(), d(), n()})), "+(FLOAT64(+(n n)) x FLOAT64(n))");
  EXPECT_EQ(typed(call(Add, {n(), E::real(0.5)})), "+(FLOAT64(n) 0.5:FLOAT64)");
  EXPECT_EQ(typed(call(Multiply, {whole(2), whole(3), f(), d()})), "*(FLOAT64(*(2:FLOAT32 3:FLOAT32 f)) x)")
      << "both and their product are exact in FLOAT32";
  EXPECT_EQ(typed(call(Multiply, {whole(2), whole(3), d()})), "*(2:FLOAT64 3:FLOAT64 x)");
}

TEST_F(ScalarTypes, NumbersAdaptToWhatTheyMeet) {
  EXPECT_EQ(typed(call(Multiply, {E::real(2.5), f()})), "*(2.5:FLOAT32 f)");
  EXPECT_EQ(typed(call(Multiply, {E::real(2.5), n()})), "*(2.5:FLOAT64 FLOAT64(n))");
  EXPECT_EQ(typed(whole(7)), "7:FLOAT64");
  EXPECT_EQ(typed(whole(7), DType::Int64), "7:INT64");
  EXPECT_EQ(typed(call(Add, {call(Multiply, {short_label_, whole(2)}), n()})), "+(*(label:INT64 2:INT64) n)");
  EXPECT_EQ(typed(call(Add, {call(Multiply, {short_label_, E::real(0.5)}), f()})),
            "+(FLOAT32(*(label:FLOAT64 0.5:FLOAT64)) f)");
  EXPECT_EQ(typed(call(Add, {E::adapting_operand(2, DType::Int64), n()})), "+(INT64(x) n)");
  EXPECT_EQ(typed(call(Add, {E::adapting_operand(2, DType::Int64), f()})), "+(FLOAT32(x) f)");
}

TEST_F(ScalarTypes, WholeNumbersAreExactInSinglePrecisionIfTheyAreShort) {
  const auto remainder = [](const ScalarPtr& label) { return call(Modulo, {label, whole(10)}); };
  EXPECT_EQ(typed(call(Multiply, {f(), remainder(short_label_)})), "*(f %(label:FLOAT32 10:FLOAT32))");
  EXPECT_EQ(typed(call(Multiply, {f(), remainder(long_label_)})), "*(f FLOAT32(%(label:FLOAT64 10:FLOAT64)))");
  EXPECT_EQ(typed(call(Case, {call(Equal, {short_label_, whole(3)}), f(), whole(0)})),
            "CASE(=(label:FLOAT32 3:FLOAT32) f 0:FLOAT32)");
  EXPECT_EQ(typed(call(Case, {call(Equal, {long_label_, whole(3)}), f(), whole(0)})),
            "CASE(=(label:FLOAT64 3:FLOAT64) f 0:FLOAT32)");
}

TEST_F(ScalarTypes, ComparisonsCompareInTheTypeOfTheirOperands) {
  EXPECT_EQ(typed(call(Case, {call(Equal, {n(), whole(3)}), d(), whole(0)})), "CASE(=(n 3:INT64) x 0:FLOAT64)");
  EXPECT_EQ(typed(call(Greater, {f(), E::real(0.1)})), "FLOAT64(>(f 0.1:FLOAT32))");
  EXPECT_EQ(typed(call(Greater, {f(), f()})), ">(FLOAT64(f) FLOAT64(f))")
      << "elements change their type while they are read";
  EXPECT_EQ(typed(call(Equal, {n(), d()})), "=(FLOAT64(n) x)");
  EXPECT_EQ(typed(call(Modulo, {call(Less, {d(), whole(4)}), n()})), "%(INT64(<(x 4:FLOAT64)) n)");
  EXPECT_EQ(typed(call(Equal, {short_label_, whole(9007199254740993)})),
            "FLOAT64(=(label:INT64 9007199254740993:INT64))");
}

TEST_F(ScalarTypes, LogicKeepsWhatIsNotZero) {
  EXPECT_EQ(typed(call(And, {f(), E::real(0.1)})), "AND(FLOAT64(f) 0.1:FLOAT64)") << "1e-300 is true";
  EXPECT_EQ(typed(call(Or, {call(Less, {n(), whole(3)}), d()})), "OR(FLOAT64(<(n 3:INT64)) x)");
  EXPECT_EQ(typed(call(Multiply, {call(Not, {n()}), f()})), "*(FLOAT32(NOT(n)) f)");
}

TEST_F(ScalarTypes, ComplexNumbersHaveNoOrder) {
  EXPECT_THROW(typed(call(Less, {z(), whole(1)})), Error);
  EXPECT_EQ(typed(call(Less, {call(Abs, {z()}), f()})).substr(0, 8), "FLOAT64(");
}

}  // namespace
}  // namespace eindb
