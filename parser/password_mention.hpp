#pragma once

#include <string_view>

namespace eindb {

/// Whether `text`, of any bytes, contains the word PASSWORD, which precedes a password in CREATE USER and ALTER USER.
/// Logs and histories of statements omit such a text. It may be misspelt or part of a statement, so the word counts
/// anywhere.
bool mentions_password(std::string_view text);

}  // namespace eindb
