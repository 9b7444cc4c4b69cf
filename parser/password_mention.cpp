#include "parser/password_mention.hpp"

#include "common/letter_case.hpp"

namespace eindb {

bool mentions_password(std::string_view text) { return to_lower(text).find("password") != std::string::npos; }

}  // namespace eindb
