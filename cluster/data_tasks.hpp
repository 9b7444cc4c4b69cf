#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/connection_task.hpp"
#include "common/check.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// The statement and the ranks that a data connection is bound to.
struct DataBinding {
  std::uint64_t statement = 0;
  Rank from = 0;  ///< rank of the side that connected
  Rank to = 0;
};

/// A data connection between statements. First it waits until the other side's part in the previous statement has
/// ended. Then, if the other side made the connection, that side binds it to the next statement.
class IdleTask : public ConnectionTask {
 public:
  /// `released`: the statement whose end is awaited; nullopt: none.
  using Bound = std::function<void(std::unique_ptr<Connection>, const DataBinding&)>;
  IdleTask(NodeTasks& tasks, std::unique_ptr<Connection> connection, std::optional<std::uint64_t> released, Bound bound)
      : ConnectionTask(tasks, std::move(connection)), released_(released), bound_(std::move(bound)) {}

  /// Whether this side may bind the connection.
  bool is_free() const { return !is_over() && !released_ && !bound_; }
  /// Only if is_free().
  std::unique_ptr<Connection> take() {
    CHECK(is_free(), "who takes a connection may bind it");
    return give_away();
  }

 private:
  void step() override;
  void failed(const Error& error) override;
  Wait take_frame();
  void release();
  void answer();
  Wait send_back();

  std::optional<std::uint64_t> released_;
  const Bound bound_;  // null: this side made the connection
  std::vector<std::byte> probe_;
};

/// Binds a data connection to a statement; calls `done` once the other side has confirmed it.
class BindTask : public ConnectionTask {
 public:
  using Done = std::function<void(std::unique_ptr<Connection>)>;
  using Failed = std::function<void(const Error&)>;
  BindTask(NodeTasks& tasks, std::unique_ptr<Connection> connection, const DataBinding& binding,
           std::chrono::milliseconds time, Done done, Failed failed);

 private:
  void step() override;
  void failed(const Error& error) override { failed_(error); }

  const DataBinding binding_;
  const std::chrono::milliseconds time_;
  const Done done_;
  const Failed failed_;
  bool has_asked_ = false;
};

/// Asks the other side of a new data connection to return a payload, which is large enough to show whether large
/// packets pass; calls `done` when it has arrived. Closes the connection.
class ProbeTask : public ConnectionTask {
 public:
  using Done = std::function<void(std::optional<Error>)>;
  ProbeTask(NodeTasks& tasks, std::unique_ptr<Connection> connection, std::chrono::milliseconds time, Done done);

 private:
  void step() override;
  void failed(const Error& error) override { done_(error); }

  const std::chrono::milliseconds time_;
  const Done done_;
  bool has_asked_ = false;
  std::vector<std::byte> bytes_;
};

/// Ends the data connection of a failed statement: sends staged frames and discards input, until the other side has
/// closed the connection or two seconds have passed. Closing it at once could discard sent data.
class FarewellTask : public ConnectionTask {
 public:
  using ConnectionTask::ConnectionTask;

 private:
  void step() override;
  void failed(const Error& /*error*/) override {}

  bool has_begun_ = false;
};

}  // namespace eindb
