#pragma once

#include <histedit.h>

#include <filesystem>
#include <optional>
#include <string>

#include "shell/completion.hpp"
#include "shell/line_source.hpp"

namespace eindb {

/// Reads a user's lines with libedit: editing, history (in ~/.eindb_history), completion with Tab. Ctrl-C returns
/// Interrupted, Ctrl-D on an empty line End.
///
/// Terminals put what is pasted between two marks ("bracketed paste"). It is read at once, up to the second mark, and
/// then handed to libedit in place of keys: line ends end lines, but tabs stand for themselves and never complete
/// anything, and other control characters are left out. Ctrl-C drops what has not been handed over yet.
///
/// An entry of the history is a whole statement, with its line ends; recalled, it is one text to edit.
class LineEditor : public LineSource {
 public:
  explicit LineEditor(Completion completion);
  ~LineEditor() override;
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  Event next(std::string& line, bool continued) override;
  bool is_interactive() const override { return true; }
  void remember(const std::string& text) override;

 private:
  // Called by libedit, which passes the editor as client data.
  static LineEditor& self(EditLine* edit);
  static char* prompt(EditLine* edit);
  static int read_character(EditLine* edit, wchar_t* character);
  static unsigned char on_tab(EditLine* edit, int key);
  static unsigned char on_paste(EditLine* edit, int key);

  bool read_pasted();
  bool next_pasted(wchar_t& character);
  unsigned char complete();

  Completion completion_;
  std::optional<std::filesystem::path> history_path_;
  EditLine* edit_;
  History* history_;
  bool continued_ = false;
  bool marks_pastes_ = false;  // the terminal is asked to
  std::string pasted_;         // and not handed over yet, from pasted_at_ on
  std::size_t pasted_at_ = 0;
  bool from_paste_ = false;  // the last character
};

}  // namespace eindb
