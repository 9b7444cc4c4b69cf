#include "engine/statements/attached_targets.hpp"

#include <string>
#include <variant>

#include "common/error.hpp"
#include "engine/sql/attached_tables.hpp"

namespace eindb {
namespace {

std::string copying(const TensorInfo& tensor) {
  std::string labels;
  for (const auto& label : tensor.labels) labels += (labels.empty() ? "" : ",") + label;
  return "CREATE TENSOR " + tensor.own_name() + " AS EINSUM " + tensor.own_name() + "[" + labels +
         "] = " + tensor.name + "[" + labels + "]";
}

class TargetOfAttached {
 public:
  explicit TargetOfAttached(OpenDatabase& database) : database_(database) {}

  void operator()(const ast::UpdateTensor& update) const {
    for (const auto& definition : std::get<ast::Updates>(update.query.body).definitions) refuse(definition.name);
  }
  void operator()(const ast::DropTensor& drop) const {
    for (const auto& name : drop.names) refuse(name);
  }
  void operator()(const ast::AlterTensor& alter) const { refuse(alter.name); }
  void operator()(const ast::AnalyzeTensor& analyze) const {
    if (analyze.name) refuse(*analyze.name);
  }
  void operator()(const ast::InsertInto& insert) const { refuse(insert.tensor); }
  // COPY makes a tensor of the database where it has none of this name.
  void operator()(const ast::CopyFrom& copy) const {
    const auto target = attached_name(copy.tensor.text, database_.connection());
    if (!target || database_.catalog.find_own(copy.tensor.text)) return;
    refuse(copy.tensor);
    throw refused_as_attached(target->schema + "." + target->name, copy.tensor.span);
  }
  template <class Other>
  void operator()(const Other&) const {}

 private:
  void refuse(const ast::Identifier& name) const {
    if (database_.catalog.find_own(name.text)) return;
    const auto tensor = database_.catalog.find(name.text);
    if (!tensor) return;
    throw Error(ErrorKind::ReadOnly, tensor->name + " is a tensor of an attached database, which statements only read",
                name.span, "open that file by itself, or copy the tensor: " + copying(*tensor));
  }

  OpenDatabase& database_;
};

}  // namespace

void refuse_attached_targets(const ast::Statement& statement, OpenDatabase& database) {
  if (database.connection().has_attached()) std::visit(TargetOfAttached(database), statement.node);
}

}  // namespace eindb
