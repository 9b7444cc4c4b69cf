#pragma once

#include <cstdint>
#include <memory>

#include "common/cancellation.hpp"
#include "engine/settings/client_policy.hpp"

namespace eindb {

/// The shared resources that a statement is about to use.
struct Work {
  double seconds = 0;      ///< predicted, on all cores; infinite if unknown
  std::int64_t bytes = 0;  ///< the most memory it will use
  bool urgent = false;     ///< other sessions wait for this one, which holds the database's write lock
};

/// Permission to work; it ends with the object. Thread-safe.
class Admission {
 public:
  Admission() = default;
  virtual ~Admission() = default;
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  /// The memory that the work may use, at most the requested bytes.
  virtual std::int64_t bytes() const = 0;
  /// Releases the cores. `held` bytes of memory stay reserved for the result until the object is destroyed.
  virtual void has_run(std::int64_t held) noexcept = 0;
};

/// Decides when statements of several sessions begin, and with how much memory. Thread-safe.
class AdmissionGate {
 public:
  AdmissionGate() = default;
  virtual ~AdmissionGate() = default;
  AdmissionGate(const AdmissionGate&) = delete;
  AdmissionGate& operator=(const AdmissionGate&) = delete;

  /// Waits for the work's turn. Throws Error{Cancelled} if `cancellation` asks for it, and Error{MemoryLimit} if
  /// waiting cannot help.
  virtual std::unique_ptr<Admission> admit(const ClientUser& user, const Work& work,
                                           const Cancellation& cancellation) = 0;
};

}  // namespace eindb
