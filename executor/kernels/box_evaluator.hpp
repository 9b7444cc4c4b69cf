#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "executor/kernels/expression_program.hpp"
#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "executor/kernels/loop_nest.hpp"
#include "executor/kernels/scratch.hpp"

namespace eindb {

/// Runs a program over a sequence of boxes of rows x columns elements. A register holds a row-major box, or one value
/// per row, or a single value if it does not change along rows or within the box. Operands with such a layout in memory
/// are used without a copy. A register is computed again only if one of its inputs has changed since the last box. This
/// is the state of one kernel call, not shared between threads. Stream n belongs to the n-th instruction that reads
/// memory or a number.
class BoxEvaluator {
 public:
  BoxEvaluator(const LevelTable& level, const ExpressionProgram& program, std::span<const LabelView> operands,
               const LoopNest& nest);

  /// Computes all registers for a box. `result_in_place`, if given, receives the last register as a whole box.
  void evaluate(const StreamOffsets& offsets, std::int64_t rows, std::int64_t columns, void* result_in_place = nullptr);
  /// Computes all registers except the last.
  void evaluate_arguments(const StreamOffsets& offsets, std::int64_t rows, std::int64_t columns);
  /// Computes the registers up to `number`.
  void evaluate_until(std::size_t number, const StreamOffsets& offsets, std::int64_t rows, std::int64_t columns);

  /// The elements of register `number` for the last box.
  Values value(std::size_t number) { return value(number, Spread::Box); }
  Values result() { return value(registers_.size() - 1); }
  /// Whether the last instruction computes a box, rather than fetching it or computing fewer values.
  bool computes_box() const;

 private:
  // The extent of a register's values.
  enum class Spread : std::uint8_t { Single, Rows, Box };
  struct Register {
    Spread spread = Spread::Box;
    const ElementTable* table = nullptr;  // the table of its type
    bool changed = true;
    bool spread_out = false;  // `box` holds the rows' values repeated for every element
    std::size_t stream = 0;
    std::uint64_t offset = 0;  // of its stream at the last load
    std::int64_t row_stride = 0;
    std::int64_t column_stride = 0;
    std::byte* slot = nullptr;  // its own memory
    std::byte* box = nullptr;   // memory for a whole box
    const void* data = nullptr;
  };

  void place_registers(const LoopNest& nest);
  void run(const StreamOffsets& offsets, std::int64_t rows, std::int64_t columns, std::size_t count, void* in_place);
  void fetch(std::size_t number, std::uint64_t offset);
  void load(const Instruction& instruction, Register& into, std::uint64_t offset);
  void draw(const Instruction& instruction, Register& into, std::uint64_t offset);
  void set_constant(const Instruction& instruction, Register& into);
  void compute(std::size_t number, void* to);
  Values value(std::size_t number, Spread wanted);
  std::int64_t count(Spread spread) const;
  const void* at_every_element(std::size_t number, Spread wanted);
  void convert(std::size_t number, std::size_t from, void* to);

  const LevelTable& level_;
  const std::vector<Instruction>& code_;
  std::span<const LabelView> operands_;
  std::vector<Register> registers_;
  std::int64_t box_elements_;
  Scratch scratch_;
  std::byte* spare_ = nullptr;  // one box, for conditions
  double* random_ = nullptr;    // one box
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  bool resized_ = true;
};

}  // namespace eindb
