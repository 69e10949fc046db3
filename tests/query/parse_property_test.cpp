// parse(print(tree)) is the tree, for generated trees; and no text, however broken, does worse than
// fail with a place.
#include "parse_support.h"

#include <random>

#include "query/functions.h"
#include "query/parse_json.h"

namespace vagt::query {
namespace {

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  std::string vector(int depth) {
    switch (depth <= 0 ? pick(2) : pick(9)) {
      case 0:
      case 1:
        return selector() + suffix();
      case 2:
        return call(depth);
      case 3:
        return aggregate(depth);
      case 4:
        return operand(vector(depth - 1)) + " " + arithmetic() + matching() + " " +
               operand(vector(depth - 1));
      case 5:
        return operand(scalar(depth - 1)) + " " + arithmetic() + " " + operand(vector(depth - 1));
      case 6:
        return operand(vector(depth - 1)) + " " + set_operator() + " " + operand(vector(depth - 1));
      case 7:
        return "-" + operand(vector(depth - 1));
      default:
        return "(" + vector(depth - 1) + ")";
    }
  }

 private:
  size_t pick(size_t n) { return random_() % n; }
  std::string one_of(std::initializer_list<const char*> list) {
    return *(list.begin() + pick(list.size()));
  }
  // Brackets around whatever could bind otherwise.
  std::string operand(const std::string& text) { return "(" + text + ")"; }
  std::string arithmetic() {
    return one_of({"+", "-", "*", "/", "%", "^", "atan2", "==", "!=", "<", "> bool", ">= bool"});
  }
  std::string set_operator() {
    return one_of({"and", "or", "unless", "and on (a)", "unless ignoring (\"b c\")"});
  }
  std::string matching() {
    return one_of({"", " on (a)", " ignoring (a, b)", " on (a) group_left ()",
                   " ignoring (x) group_right (y, z)", " fill (1)",
                   " on (a) fill_left (2) fill_right (-3)"});
  }
  std::string selector() {
    return one_of({"foo", "a:b", "sum", "{__name__=~\"x.*\"}", "foo{a=\"b\",c!~\"d|e\"}",
                   "{\"weird name\"!=\"\"}", "fill{job=\"\\\"quoted\\\"\"}"});
  }
  std::string suffix() {
    return one_of({"", "", "", " offset 5m", " offset -1h30m", " @ 12.345", " @ start()",
                   " @ end() offset 1d", " offset (1h / 2)", " offset -step()", " smoothed"});
  }
  std::string range() {
    return one_of({"[5m]", "[1h30m]", "[5m * 2]", "[step() + 1ms]", "[max_of(range(), 5m)]",
                   "[2 ^ (3 - 1)]"});
  }
  std::string matrix(int depth) {
    if (pick(3) == 0)
      return operand(vector(depth - 1)) + one_of({"[1h:]", "[1h:5m]", "[1h:step() * 2]",
                                                  "[1h:] @ end()", "[30m:1m] offset -5m"});
    return selector() + range() + one_of({"", " offset 1m", " @ 7.000", " anchored"});
  }
  std::string scalar(int depth) {
    switch (depth <= 0 ? pick(4) : pick(6)) {
      case 0:
        return std::to_string(pick(1000));
      case 1:
        return one_of({"0.5", "1e-9", "+Inf", "NaN", "5m", "-3", "-1h"});
      case 2:
        return "time()";
      case 3:
        return "pi()";
      case 4:
        return "scalar(" + vector(depth - 1) + ")";
      default:
        return operand(scalar(depth - 1)) + one_of({" + ", " * ", " ^ ", " < bool "}) +
               operand(scalar(depth - 1));
    }
  }
  std::string call(int depth) {
    const auto all = all_functions();
    for (;;) {
      const FunctionSignature& f = all[pick(all.size())];
      if (f.returns != ValueType::Vector || f.name == "info") continue;
      size_t count = f.args.size();
      if (f.variadic < 0) count += pick(3);
      std::string out = std::string(f.name) + "(";
      for (size_t i = 0; i < count; ++i) {
        if (i > 0) out += ", ";
        out += argument(f.args[std::min(i, f.args.size() - 1)], depth);
      }
      return out + ")";
    }
  }
  std::string argument(ValueType type, int depth) {
    switch (type) {
      case ValueType::Scalar:
        return scalar(depth - 1);
      case ValueType::String:
        return one_of({"\"\"", "\"a\"", "\"x\\ny\"", "\"é\""});
      case ValueType::Matrix:
        return matrix(depth);
      default:
        return vector(depth - 1);
    }
  }
  std::string aggregate(int depth) {
    const std::string grouping = one_of({"", " by (a) ", " without () ", " by (a, \"b.c\") "});
    switch (pick(4)) {
      case 0:
        return one_of({"topk", "bottomk", "quantile", "limitk", "limit_ratio"}) + grouping + "(" +
               scalar(depth - 1) + ", " + vector(depth - 1) + ")";
      case 1:
        return "count_values" + grouping + "(\"v\", " + vector(depth - 1) + ")";
      default:
        return one_of({"sum", "avg", "min", "max", "count", "group", "stddev", "stdvar"}) +
               grouping + "(" + vector(depth - 1) + ")";
    }
  }

  std::mt19937 random_;
};

TEST(ParseProperty, PrintingAndParsingIsTheIdentity) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    const std::string text = Generator(seed).vector(static_cast<int>(seed % 5));
    const Result<ExprPtr> first = parse_expr(text, all_features());
    ASSERT_TRUE(first.ok()) << text << "\n" << first.error().message();
    const std::string printed = print_expr(**first);
    const Result<ExprPtr> second = parse_expr(printed, all_features());
    ASSERT_TRUE(second.ok()) << printed << "\n" << second.error().message();
    ASSERT_EQ(print_expr(**second), printed) << text;
    ASSERT_EQ(expr_to_json(**second), expr_to_json(**first)) << text;
    const Result<ExprPtr> formatted = parse_expr(format_expr(**first), all_features());
    ASSERT_TRUE(formatted.ok()) << format_expr(**first);
    ASSERT_EQ(print_expr(**formatted), printed);
  }
}

// Cuts, doubles and swaps bytes of good queries.
TEST(ParseProperty, BrokenTextFailsWithAPlace) {
  std::mt19937 random(7);
  constexpr std::string_view kBytes =
      "()[]{},:=!~+-*/%^@#\"'`\\ \n0x_e.5masumbyonoffset\xff\xc3\xa9";
  size_t refused = 0;
  for (uint32_t seed = 0; seed < 5000; ++seed) {
    std::string text = Generator(seed).vector(2);
    for (size_t edits = random() % 4 + 1; edits > 0 && !text.empty(); --edits) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text.erase(at, random() % 5 + 1);
          break;
        case 1:
          text.insert(at, 1, kBytes[random() % kBytes.size()]);
          break;
        default:
          text[at] = kBytes[random() % kBytes.size()];
      }
    }
    const Result<ExprPtr> expr = parse_expr(text, all_features());
    if (expr.ok()) {
      ASSERT_EQ(reprint(print_expr(**expr)), print_expr(**expr)) << text;
      continue;
    }
    ++refused;
    ASSERT_EQ(expr.error().code(), Code::InvalidArgument);
    ASSERT_NE(expr.error().message().find(": parse error: "), std::string::npos)
        << expr.error().message();
  }
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace vagt::query
