// The keywords of PostgreSQL 15, as in its pg_get_keywords().
#include "engine/sql_functions/pg_keywords.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace eindb {
namespace {

/// The words of one category, in alphabetical order, with its letter in PostgreSQL.
struct Category {
  std::string_view letter;
  std::string_view words;
};

/// Names of columns, but not of functions or types.
constexpr std::string_view kNamesOfColumns =
    "between bigint bit boolean char character coalesce dec decimal exists extract float greatest grouping inout "
    "int integer interval least national nchar none normalize nullif numeric out overlay position precision real "
    "row setof smallint substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement "
    "xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable";
/// Names of nothing, unless they are quoted.
constexpr std::string_view kReserved =
    "all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create "
    "current_catalog current_date current_role current_time current_timestamp current_user default deferrable "
    "desc distinct do else end except false fetch for foreign from grant group having in initially intersect into "
    "lateral leading limit localtime localtimestamp not null offset on only or order placing primary references "
    "returning select session_user some symmetric table then to trailing true union unique user using variadic "
    "when where window with";
/// Names of functions or types alone.
constexpr std::string_view kNamesOfFunctions =
    "authorization binary collation concurrently cross current_schema freeze full ilike inner is isnull join left "
    "like natural notnull outer overlaps right similar tablesample verbose";
/// Names of anything.
constexpr std::string_view kUnreserved =
    "abort absolute access action add admin after aggregate also alter always asensitive assertion assignment at "
    "atomic attach attribute backward before begin breadth by cache call called cascade cascaded catalog chain "
    "characteristics checkpoint class close cluster columns comment comments commit committed compression "
    "configuration conflict connection constraints content continue conversion copy cost csv cube current cursor "
    "cycle data database day deallocate declare defaults deferred definer delete delimiter delimiters depends "
    "depth detach dictionary disable discard document domain double drop each enable encoding encrypted enum "
    "escape event exclude excluding exclusive execute explain expression extension external family filter "
    "finalize first following force forward function functions generated global granted groups handler header "
    "hold hour identity if immediate immutable implicit import include including increment index indexes inherit "
    "inherits inline input insensitive insert instead invoker isolation key label language large last leakproof "
    "level listen load local location lock locked logged mapping match matched materialized maxvalue merge method "
    "minute minvalue mode month move name names new next nfc nfd nfkc nfkd no normalized nothing notify nowait "
    "nulls object of off oids old operator option options ordinality others over overriding owned owner parallel "
    "parameter parser partial partition passing password plans policy preceding prepare prepared preserve prior "
    "privileges procedural procedure procedures program publication quote range read reassign recheck recursive "
    "ref referencing refresh reindex relative release rename repeatable replace replica reset restart restrict "
    "return returns revoke role rollback rollup routine routines rows rule savepoint schema schemas scroll search "
    "second security sequence sequences serializable server session set sets share show simple skip snapshot sql "
    "stable standalone start statement statistics stdin stdout storage stored strict strip subscription support "
    "sysid system tables tablespace temp template temporary text ties transaction transform trigger truncate "
    "trusted type types uescape unbounded uncommitted unencrypted unknown unlisten unlogged until update vacuum "
    "valid validate validator value varying version view views volatile whitespace within without work wrapper "
    "write xml year yes zone";

constexpr std::array kCategories{Category{"C", kNamesOfColumns}, Category{"R", kReserved},
                                 Category{"T", kNamesOfFunctions}, Category{"U", kUnreserved}};

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (auto end = text.find(' '); end != std::string_view::npos; end = text.find(' ')) {
    words.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  words.push_back(text);
  return words;
}

}  // namespace

bool must_be_quoted(std::string_view word) {
  static const auto kWords = [] {
    std::vector<std::string_view> words;
    for (const auto text : {kNamesOfColumns, kReserved, kNamesOfFunctions})
      for (const auto each : words_of(text)) words.push_back(each);
    std::sort(words.begin(), words.end());
    return words;
  }();
  return std::binary_search(kWords.begin(), kWords.end(), word);
}

std::string keywords_as_json() {
  auto all = nlohmann::json::object();
  for (const auto& [letter, words] : kCategories)
    for (const auto word : words_of(words)) all[std::string(word)] = letter;
  return all.dump();
}

}  // namespace eindb
