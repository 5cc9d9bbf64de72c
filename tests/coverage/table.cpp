#include "table.hpp"

#include <iterator>
#include <map>
#include <set>
#include <sstream>

namespace sinew::coverage {
namespace {

constexpr const char* headings[] = {"repository", "definitions",    "messages",     "native",           "CDR",        "variable length",
                                    "in pieces",  "array in place", "strings only", "sequences copied", "not covered"};

struct Row {
  std::set<std::string> files;
  int messages = 0, native = 0, cdr = 0, variable = 0, in_pieces = 0, arrays = 0, strings = 0, copied = 0, not_covered = 0;

  void count(const Result& result) {
    files.insert(result.definition.file);
    messages += 1;
    native += result.is_native() ? 1 : 0;
    cdr += result.is_cdr() ? 1 : 0;
    in_pieces += result.is_in_pieces() ? 1 : 0;
    not_covered += result.findings ? 0 : 1;
    if (!result.is_variable()) return;
    variable += 1;
    (result.findings->arrays_in_place > 0 ? arrays : result.findings->sequences ? copied : strings) += 1;
  }
};

/// Those of which the same is to be said, by what it is.
using Remarks = std::map<std::string, std::string>;

void add(Remarks& remarks, const std::string& what, const std::string& name) {
  std::string& names = remarks[what];
  names += (names.empty() ? "" : ", ") + name;
}

void write(std::ostream& to, const char* heading, const Remarks& remarks) {
  if (remarks.empty()) return;
  to << "\n" << heading << "\n\n";
  for (const auto& [what, names] : remarks) to << "* " << what << ": " << names << "\n";
}

/// What stands between a message with sequences and referring to one of them.
std::string obstacles_of(const Findings& findings) {
  std::string text;
  for (const Obstacle obstacle : findings.obstacles) {
    if (obstacle != Obstacle::text) text += (text.empty() ? "" : "; ") + std::string(words_for(obstacle));
  }
  return text;
}

}  // namespace

std::string table_of(const std::vector<Result>& results) {
  std::map<std::string, Row> rows;
  Row all;
  Remarks not_covered, copied, sometimes, stand_ins;
  for (const Result& result : results) {
    const std::string& name = result.definition.name;
    rows[result.definition.repository].count(result);
    all.count(result);
    if (!result.stand_in.empty()) add(stand_ins, result.stand_in, name);
    if (!result.findings) {
      add(not_covered, result.reason, name);
      continue;
    }
    const Findings& findings = *result.findings;
    if (findings.arrays_in_place == 0 && findings.sequences) add(copied, obstacles_of(findings), name);
    if (findings.arrays_in_place > 0 && findings.arrays_in_place < findings.arrays) {
      add(sometimes, std::to_string(findings.arrays_in_place) + " of " + std::to_string(findings.arrays), name);
    }
  }

  std::ostringstream text;
  for (const char* heading : headings) text << "| " << heading << " ";
  text << "|\n|";
  for (std::size_t i = 0; i < std::size(headings); ++i) text << (i == 0 ? " --- |" : " ---: |");
  text << "\n";
  const auto write_row = [&](const std::string& name, const Row& row) {
    text << "| " << name << " | " << row.files.size();
    for (const int number :
         {row.messages, row.native, row.cdr, row.variable, row.in_pieces, row.arrays, row.strings, row.copied, row.not_covered})
      text << " | " << number;
    text << " |\n";
  };
  for (const auto& [name, row] : rows) write_row(name, row);
  write_row("all", all);
  text << "\n"
          "A definition is a file; a .srv has two messages, an .action three. Native: a reader reads the message where its publisher has "
          "built it. CDR: the\n"
          "stream is that of Fast CDR, in both byte orders, and is read back. In pieces: of messages with strings or sequences, the stream "
          "as a list of pieces,\n"
          "so that what is big is referred to where it lies: a sequence; or, where there are strings only, each of a page or more; or, of "
          "sequences that are\n"
          "copied because they do not stand in memory as in a stream, the strings and arrays in their elements.\n";
  write(text, "Not covered:", not_covered);
  write(text, "Sequences are copied, because there is no other than:", copied);
  write(text,
        "Arrays that were in place, of those with a page: the others begin where the stream needs padding that memory has not:", sometimes);
  write(text, "Contain a definition that is not among these, and for which one with the same fields stood in:", stand_ins);
  return text.str();
}

}  // namespace sinew::coverage
