#pragma once

#include <cstdint>
#include <memory>

#include "common/cancellation.hpp"
#include "engine/settings/client_policy.hpp"

namespace eindb {

/// What a statement is about to take of what all sessions share.
struct Work {
  double seconds = 0;      ///< on all cores, as predicted; infinite where nobody knows
  std::int64_t bytes = 0;  ///< of memory, at most
  bool urgent = false;     ///< others wait for this session: it holds the database's lock for writing
};

/// Leave to work, which ends with the object. Thread-safe.
class Admission {
 public:
  Admission() = default;
  virtual ~Admission() = default;
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  /// What the work may take, at most what was asked for.
  virtual std::int64_t bytes() const = 0;
  /// The cores are free for others; `held` bytes are not yet: a result that somebody fetches.
  virtual void has_run(std::int64_t held) noexcept = 0;
};

/// Lets statements begin: whoever has several sessions decides when, and with how much memory. Any number of threads.
class AdmissionGate {
 public:
  AdmissionGate() = default;
  virtual ~AdmissionGate() = default;
  AdmissionGate(const AdmissionGate&) = delete;
  AdmissionGate& operator=(const AdmissionGate&) = delete;

  /// Waits for the work's turn. Throws what `cancellation` says in the meantime, and Error{MemoryLimit} where there is
  /// nothing to wait for.
  virtual std::unique_ptr<Admission> admit(const ClientUser& user, const Work& work,
                                           const Cancellation& cancellation) = 0;
};

}  // namespace eindb
