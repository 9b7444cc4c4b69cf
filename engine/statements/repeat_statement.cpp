#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "catalog/loop_catalog.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/query/pipeline.hpp"
#include "engine/query/plan_key.hpp"
#include "engine/results/rows.hpp"
#include "engine/session/statement_scopes.hpp"
#include "engine/statements/constant_value.hpp"
#include "engine/statements/retold_error.hpp"
#include "engine/statements/statements.hpp"
#include "parser/loop_variable.hpp"
#include "parser/parser.hpp"
#include "security/base64.hpp"
#include "security/digest.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"

namespace eindb {
namespace {

std::string rounds_text(std::int64_t count) { return std::to_string(count) + (count == 1 ? " round" : " rounds"); }

// ---- The arguments of a loop ----------------------------------------------------------------------------------------

// The query EINSUM until[] = e.
ast::Query query_of(ast::Expression expression) {
  ast::Definition definition;
  definition.name = {.text = "until", .span = expression.span};
  definition.head_span = definition.span = expression.span;
  definition.expression = std::move(expression);
  ast::Query query;
  query.span = definition.span;
  query.body = std::move(definition);
  return query;
}

bool is_not_zero(const Tile& tile) {
  return dispatch(tile.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    return *tile.template data<T>() != T{};
  });
}

// A loop is identified by its text and the values of its parameters.
std::string digest_of(const std::string& text, const std::vector<ParameterValue>& parameters) {
  auto all = text;
  for (const auto& value : parameters) append_value(all, value);
  return base64_encode(sha256(all).view());
}

// ---- The rounds -----------------------------------------------------------------------------------------------------

// Runs the body of a loop round by round, in the open transaction.
class Rounds {
 public:
  Rounds(const ast::Repeat& repeat, SessionState& session)
      : repeat_(repeat),
        session_(session),
        count_(whole_number(repeat.count, 0, "the number of rounds", session.statement.parameters())) {}

  std::int64_t count() const { return count_; }
  std::int64_t done() const { return done_; }
  bool at_end() const { return done_ >= count_ || stopped_; }
  void go_on_after(std::int64_t done) {
    CHECK(done_ == 0 && done > 0 && done < count_, "a loop goes on before its first round, after one that it has");
    done_ = done;
  }

  void run_next() {
    CHECK(!at_end(), "no round comes after the last one");
    session_.statement.cancellation().check();
    const LoopRound round(session_.statement, repeat_.variable, done_);
    try {
      for (const auto& statement : repeat_.body) run(statement, round);
      if (repeat_.until) stopped_ = holds(*repeat_.until, round);
    } catch (const Error& error) {
      retell(error, "in round " + std::to_string(done_) + ": " + error.message(), error.span(), error.hint());
    }
    ++done_;
  }

 private:
  void run(const ast::Statement& statement, const LoopRound& round) {
    session_.statement.cancellation().check();
    auto result = round.variable() ? run_statement(with_loop_variable(statement, *round.variable()), session_)
                                   : run_statement(statement, session_);
    // The rows are discarded, but reading them reveals errors on the way to the last one.
    if (result.tensor != nullptr || result.rows == nullptr) return;
    for (Row row; result.rows->next(row);) session_.statement.cancellation().check();
  }

  bool holds(const ast::Expression& until, const LoopRound& round) {
    const auto query = query_of(round.variable() ? with_loop_variable(until, *round.variable()) : until);
    const auto value = with_place(until.span, [&] { return evaluate_query(query, session_); });
    CHECK(value->grid.tile_count() == 1, "what a loop goes on until is one number");
    const auto tile = value->tile(0);
    return tile != nullptr && is_not_zero(*tile);
  }

  const ast::Repeat& repeat_;
  SessionState& session_;
  const std::int64_t count_;
  std::int64_t done_ = 0;
  bool stopped_ = false;  // by UNTIL
};

// Runs a loop inside the open transaction, for example a loop in another loop.
void run_as_part(Rounds& rounds, const StatementContext& statement) {
  while (!rounds.at_end()) {
    rounds.run_next();
    statement.report_rounds(rounds.done(), rounds.count());
  }
}

// ---- A loop with transactions of its own ----------------------------------------------------------------------------

// The record of a loop's progress in the database; none if the database is read-only.
class LoopRecord {
 public:
  LoopRecord(const ast::Repeat& repeat, SessionState& session)
      : loops_(session.database.connection()),
        loop_(digest_of(repeat.text, session.statement.parameters())),
        run_(random_number()),
        is_kept_(!session.database.file.is_read_only()) {
    if (!is_kept_) return;
    if (session.user.settings.resume_loops()) known_ = loops_.find(loop_);
    else forget_before_ = true;
  }

  /// The number of rounds committed by an earlier run.
  std::int64_t done() const { return known_ ? known_->done : 0; }

  /// Updates the record in the transaction of the rounds. Error{Conflict} if another session continues the same loop.
  void update(const Rounds& rounds) {
    if (!is_kept_) return;
    check_alone();
    if (rounds.at_end()) {
      if (known_ || forget_before_) loops_.drop(loop_);
      known_.reset();
    } else {
      CHECK(rounds.done() > done(), "a loop is further each time that it is noted");
      known_ = UnfinishedLoop{.done = rounds.done(), .run = run_};
      loops_.put(loop_, *known_);
    }
    forget_before_ = false;
  }

 private:
  static std::int64_t random_number() {
    std::int64_t number = 0;
    std::memcpy(&number, random_bytes(sizeof number).data(), sizeof number);
    return number;
  }

  void check_alone() {
    if (forget_before_) return;
    const auto now = loops_.find(loop_);
    if (now.has_value() == known_.has_value() && (!now || (now->done == known_->done && now->run == known_->run)))
      return;
    throw Error(ErrorKind::Conflict, "another session runs the same loop", std::nullopt,
                "run it once, or let them differ in their text");
  }

  LoopCatalog loops_;
  const std::string loop_;
  const std::int64_t run_;
  const bool is_kept_;
  std::optional<UnfinishedLoop> known_;  // as stored in the database
  bool forget_before_ = false;           // starts from the first round, whatever is stored
};

// Runs a loop in transactions of a fixed number of rounds each.
class CommittedRounds {
 public:
  CommittedRounds(const ast::Repeat& repeat, Rounds& rounds, SessionState& session)
      : rounds_(rounds),
        session_(session),
        every_(repeat.commit_every
                   ? whole_number(*repeat.commit_every, 1, "COMMIT EVERY", session.statement.parameters())
                   : 1),
        record_(repeat, session) {}

  void run() {
    resume();
    while (!rounds_.at_end()) run_transaction();
  }

 private:
  void resume() {
    stored_ = record_.done();
    if (stored_ == 0) return;
    if (stored_ >= rounds_.count()) {
      throw Error(ErrorKind::Corrupt,
                  session_.database.connection().name() + ": " + rounds_text(stored_) + " of a loop of " +
                      std::to_string(rounds_.count()) + " are said to be done",
                  std::nullopt, "SET resume_loops = off lets it begin anew");
    }
    rounds_.go_on_after(stored_);
    session_.statement.tell("the loop goes on after " + std::to_string(stored_) + " of " +
                            rounds_text(rounds_.count()) +
                            ", which an earlier run has committed; SET resume_loops = off lets it begin anew");
  }

  void run_transaction() {
    auto& connection = session_.database.connection();
    CHECK(!connection.in_transaction(), "rounds that a loop commits are a transaction of their own");
    try {
      SqliteTransaction transaction(connection);
      for (std::int64_t n = 0; n < every_ && !rounds_.at_end(); ++n) {
        rounds_.run_next();
        session_.statement.report_rounds(rounds_.done(), rounds_.count());
      }
      CHECK(rounds_.done() > stored_, "a transaction of a loop has a round at least");
      session_.database.unwritten.write(connection);
      record_.update(rounds_);
      transaction.commit();
    } catch (const Error& error) {
      throw_at(error, error.span(), with_what_is_stored(error.hint()));
    }
    stored_ = rounds_.done();
    session_.database.file.settle_shards();
  }

  std::string with_what_is_stored(const std::string& hint) const {
    if (stored_ == 0 || session_.database.file.is_read_only()) return hint;
    const bool one = stored_ == 1;
    return hint + (hint.empty() ? "" : "; ") + rounds_text(stored_) + (one ? " is" : " are") +
           " committed: the same statement goes on after " + (one ? "it" : "them");
  }

  Rounds& rounds_;
  SessionState& session_;
  const std::int64_t every_;
  LoopRecord record_;
  std::int64_t stored_ = 0;  // number of committed rounds
};

void check_parameters(const ast::Repeat& repeat, const StatementContext& statement) {
  const auto count = repeat.parameter_count;
  if (count <= statement.parameters().size()) return;
  throw Error(ErrorKind::Value, "no value is given for parameter $" + std::to_string(count), std::nullopt,
              "PREPARE the loop and EXECUTE it with values");
}

}  // namespace

Result execute_statement(const ast::Repeat& repeat, SessionState& session) {
  const bool outermost = !session.statement.is_in_loop();
  if (outermost) check_parameters(repeat, session.statement);
  auto& connection = session.database.connection();
  Rounds rounds(repeat, session);
  const bool is_part = connection.in_transaction();
  const LoopScope scope(session.statement);
  const PartOfStatement part(session.statement);
  if (!is_part) {
    CommittedRounds(repeat, rounds, session).run();
  } else if (outermost) {
    SqliteTransaction transaction(connection);
    run_as_part(rounds, session.statement);
    transaction.commit();
  } else {
    run_as_part(rounds, session.statement);
  }
  return status_result("REPEAT " + std::to_string(rounds.done()));
}

}  // namespace eindb
