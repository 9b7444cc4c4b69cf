#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/http/http_endpoint.hpp"

namespace eindb {

/// The HTTP pages of a node: /health, with status 200 or 503 and a line of text, and /metrics, in Prometheus's text
/// format. Used by one thread.
class HealthPages {
 public:
  HealthPages() = default;
  virtual ~HealthPages() = default;
  HealthPages(const HealthPages&) = delete;
  HealthPages& operator=(const HealthPages&) = delete;

  /// nullopt if the page does not exist.
  std::optional<HttpAnswer> page(std::string_view path);

 protected:
  struct Health {
    bool is_well = true;  ///< whether the node serves
    std::string text = "ok";
  };

 private:
  virtual Health health() = 0;
  virtual std::string metrics() const = 0;
};

}  // namespace eindb
