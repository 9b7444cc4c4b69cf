#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/dialect/sql_type.hpp"

namespace eindb::dialect {

// Texts read as values of PostgreSQL's types. All throw CodedError: 22P02 for other texts, 22007 for those of dates and
// times, 22008 for dates and times that there are not, 22003 for numbers out of range. White space around the text is
// left out.

std::int64_t integer_from(std::string_view text);
/// `type` for messages: "numeric".
double real_from(std::string_view text, std::string_view type = "double precision");
/// t, true, y, yes, on, 1 and their opposites, in any case.
bool truth_from(std::string_view text);
/// In lower case and with hyphens.
std::string uuid_from(std::string_view text);
/// The text as it is, if it is JSON.
std::string json_from(std::string_view text);

// The texts in which dates and times are stored: 2024-02-29, 2024-02-29 12:30:00, 12:30:00.5, 1 day 02:00:00.
std::string date_from(std::string_view text);
std::string time_from(std::string_view text);
std::string timestamp_from(std::string_view text, bool zoned);
std::string interval_from(std::string_view text);

/// The text of a value of the type as arrays keep it, read as above. Types that are not above take any text.
std::string kept_text(std::string_view text, SqlType type);

}  // namespace eindb::dialect
