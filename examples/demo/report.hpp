// What a process of the demo leaves for the launcher when it stops: one line of key=value words per topic.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace demo {

/// One line: "publisher camera camera/image published=600 bytes_copied=0". Kind, node and topic, then numbers by name.
struct ReportLine {
  std::string kind;  ///< "publisher", "subscriber", or "watched" (what the monitor measured)
  std::string node;
  std::string topic;
  std::map<std::string, double> values;

  /// The value of this name; 0 when the line does not have it.
  double operator[](const std::string& name) const;
};

void write_report(std::ostream& out, const std::vector<ReportLine>& lines);
/// Throws std::runtime_error, with the line, when the text is not a report.
std::vector<ReportLine> read_report(std::istream& in);

}  // namespace demo
