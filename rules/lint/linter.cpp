#include "rules/lint/linter.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "query/parse.h"
#include "rules/lint/checks.h"

namespace vagt::rules {
namespace {

constexpr std::string_view kMark = "lint: allow ";
constexpr size_t kLongExcerpt = 120;

struct Allowance {
  int line = 0;
  std::set<std::string, std::less<>> codes;
};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool is_code(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos;
}

// "# lint: allow a-code, another (why)".
std::set<std::string, std::less<>> allowed_codes(std::string_view comment) {
  std::set<std::string, std::less<>> codes;
  const size_t mark = comment.find(kMark);
  if (mark == std::string_view::npos) return codes;
  std::string_view rest = comment.substr(mark + kMark.size());
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    std::string_view word = trimmed(rest.substr(0, comma));
    word = word.substr(0, word.find(' '));
    if (!is_code(word)) break;
    codes.emplace(word);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return codes;
}

struct Lines {
  std::vector<Allowance> allowances;
  std::set<int> comments;  // lines that are nothing else
  int first_key = 0;       // the line of `groups:`
};

Lines read_lines(std::string_view text) {
  Lines lines;
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = text.find('\n');
    const std::string_view one = trimmed(text.substr(0, end));
    if (one.starts_with('#')) lines.comments.insert(line);
    if (lines.first_key == 0 && !one.empty() && !one.starts_with('#') && one != "---")
      lines.first_key = line;
    const size_t hash = one.find('#');
    if (hash != std::string_view::npos) {
      auto codes = allowed_codes(one.substr(hash));
      if (!codes.empty()) lines.allowances.push_back({line, std::move(codes)});
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

class Silences {
 public:
  Silences(const RuleFile& file, std::string_view text) : lines_(read_lines(text)) {
    for (const RuleGroup& group : file.groups) {
      begins_.insert(group.where.line);
      for (const Rule& rule : group.rules) begins_.insert(rule_position(rule).line);
    }
  }
  bool allows(std::string_view code, int line) const {
    int from = line;
    while (lines_.comments.contains(from - 1)) --from;
    const auto next = begins_.upper_bound(line);
    int until = next == begins_.end() ? std::numeric_limits<int>::max() : *next;
    // The comments right above the next rule are that rule's.
    while (lines_.comments.contains(until - 1)) --until;
    return std::any_of(
        lines_.allowances.begin(), lines_.allowances.end(), [&](const Allowance& allowance) {
          const bool is_here = allowance.line >= from && allowance.line < until;
          return (is_here || allowance.line < lines_.first_key) && allowance.codes.contains(code);
        });
  }

 private:
  Lines lines_;
  std::set<int> begins_;
};

std::string excerpt_of(const query::Expr* part) {
  if (part == nullptr) return "";
  std::string text = query::print_expr(*part);
  if (text.size() <= kLongExcerpt) return text;
  size_t end = kLongExcerpt;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

void check_all(const CheckedRule& rule, const Report& report) {
  check_functions(rule, report);
  check_comparisons(rule, report);
  check_histograms(rule, report);
  check_joins(rule, report);
  check_timing(rule, report);
  check_witnesses(rule, report);
  check_texts(rule, report);
}

}  // namespace

std::vector<LintNote> lint_rule_file(const RuleFile& file, std::string_view text,
                                     const LintSettings& settings) {
  std::vector<LintNote> notes;
  const Silences silences(file, text);
  for (const RuleGroup& group : file.groups) {
    for (const Rule& rule : group.rules) {
      const RulePosition where = rule_position(rule);
      check_all({rule, group, settings}, [&](std::string_view code, const query::Expr* part,
                                             std::string what, std::string better) {
        if (silences.allows(code, where.line)) return;
        LintNote note{code,  file.path,        group.name,      rule_name(rule),
                      where, excerpt_of(part), std::move(what), std::move(better)};
        const bool is_known = std::any_of(notes.begin(), notes.end(), [&](const LintNote& n) {
          return n.where.line == where.line && n.code == code && n.text == note.text &&
                 n.excerpt == note.excerpt;
        });
        if (!is_known) notes.push_back(std::move(note));
      });
    }
  }
  return notes;
}

const std::vector<LintCode>& lint_codes() {
  static const std::vector<LintCode> codes = {
      {"absent-with-regex", "absent() of a regular expression"},
      {"allocated-is-not-busy", "allocated memory taken for work"},
      {"always-true", "a condition that all possible values meet"},
      {"bound-without-point", "le=\"1\" where bounds are written 1.0"},
      {"cleared-by-reset", "a counter that the repair clears"},
      {"counter-without-rate", "a counter compared with a number"},
      {"delta-on-counter", "delta() or deriv() of a counter"},
      {"equality-on-rate", "== with a number that extrapolation misses"},
      {"first-increment-invisible", "increase() of series that appear with their first event"},
      {"for-filters-nothing", "`for` shorter than the range of a rate over 0"},
      {"for-under-interval", "`for` shorter than the evaluation interval"},
      {"join-cannot-match", "two sides without common labels"},
      {"latency-of-whole-answer", "a latency that grows with the answer"},
      {"never-true", "a condition that no possible value meets"},
      {"no-data", "with --url: a selector that found nothing for an hour"},
      {"no-runbook", "an alert without runbook"},
      {"no-severity", "an alert without severity"},
      {"no-summary", "an alert without summary"},
      {"off-by-default", "a metric its exporter does not serve unless told"},
      {"one-sample-resets-for", "an instant level compared while `for` runs"},
      {"quantile-of-every-series", "histogram_quantile() without aggregation"},
      {"quantile-without-le", "an aggregation that drops le"},
      {"range-under-four-scrapes", "a range of fewer than four scrapes"},
      {"rate-on-gauge", "rate() or increase() of a gauge"},
      {"share-of-memory", "a share of memory without an absolute limit"},
      {"template-prints-nothing", "a text that names a label the expression drops"},
      {"threshold-of-one-product", "a number that fits one GPU product"},
      {"value-in-label", "the value in a label"},
  };
  return codes;
}

}  // namespace vagt::rules
