#include "report.hpp"

#include <istream>
#include <limits>
#include <ostream>
#include <sstream>
#include <stdexcept>

namespace demo {

double ReportLine::operator[](const std::string& name) const {
  const auto found = values.find(name);
  return found == values.end() ? 0 : found->second;
}

void write_report(std::ostream& out, const std::vector<ReportLine>& lines) {
  out.precision(std::numeric_limits<double>::max_digits10);
  for (const ReportLine& line : lines) {
    out << line.kind << ' ' << line.node << ' ' << line.topic;
    for (const auto& [name, value] : line.values) out << ' ' << name << '=' << value;
    out << '\n';
  }
}

std::vector<ReportLine> read_report(std::istream& in) {
  std::vector<ReportLine> lines;
  for (std::string text; std::getline(in, text);) {
    std::istringstream words(text);
    ReportLine line;
    bool good = static_cast<bool>(words >> line.kind >> line.node >> line.topic);
    for (std::string word; good && words >> word;) {
      const auto equals = word.find('=');
      std::istringstream number(equals == std::string::npos ? "" : word.substr(equals + 1));
      good = static_cast<bool>(number >> line.values[word.substr(0, equals)]);
    }
    if (!good) throw std::runtime_error("this is not a line of a report: " + text);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace demo
