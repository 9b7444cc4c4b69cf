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
class LineEditor : public LineSource {
 public:
  explicit LineEditor(Completion completion);
  ~LineEditor() override;
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  Event next(std::string& line, bool continued) override;
  bool is_interactive() const override { return true; }

 private:
  // Called by libedit, which passes the editor as client data.
  static LineEditor& self(EditLine* edit);
  static char* prompt(EditLine* edit);
  static int read_character(EditLine* edit, wchar_t* character);
  static unsigned char on_tab(EditLine* edit, int key);

  unsigned char complete();
  void remember(const std::string& line);

  Completion completion_;
  std::optional<std::filesystem::path> history_path_;
  EditLine* edit_;
  History* history_;
  bool continued_ = false;
};

}  // namespace eindb
