#include "cli/routes.h"

#include <map>
#include <ostream>

#include "base/labels.h"
#include "cli/alertmanager_api.h"
#include "config/alertmanager_config.h"
#include "notify/matchers.h"
#include "notify/route.h"

namespace vagt::cli {
namespace {

using notify::Route;

struct TreeNode {
  std::string text;
  std::vector<TreeNode> children;
};

void print_children(std::ostream& out, const std::vector<TreeNode>& nodes,
                    const std::string& indent) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    const bool is_last = i + 1 == nodes.size();
    out << indent << (is_last ? "└── " : "├── ") << nodes[i].text << "\n";
    print_children(out, nodes[i].children, indent + (is_last ? "    " : "│   "));
  }
}

void print_tree(std::ostream& out, const TreeNode& root) {
  out << ".\n";
  print_children(out, {root}, "");
  out << "\n";
}

std::string matchers_of(const Route& route) {
  return route.matchers().empty() ? "default-route" : notify::matchers_text(route.matchers());
}

TreeNode whole_tree(const Route& route) {
  TreeNode node{matchers_of(route), {}};
  if (route.continue_matching()) node.text += "  continue: true";
  node.text += "  receiver: " + route.options().receiver;
  for (const auto& child : route.routes()) node.children.push_back(whole_tree(*child));
  return node;
}

// The way of one alert; the receiver stands where it ends.
TreeNode matching_tree(const Route& route, const Labels& labels) {
  TreeNode node{matchers_of(route), {}};
  for (const auto& child : route.routes()) {
    if (!matches_all(child->matchers(), labels)) continue;
    node.children.push_back(matching_tree(*child, labels));
    if (!child->continue_matching()) break;
  }
  if (node.children.empty()) node.text += "  receiver: " + route.options().receiver;
  return node;
}

Result<std::unique_ptr<const Route>> load_routes(Context& context, const std::string& file) {
  if (!file.empty()) {
    VAGT_TRY(const notify::Config config, config::load_alertmanager_config(file));
    return Route::build(config.route);
  }
  VAGT_TRY(AlertmanagerApi api, AlertmanagerApi::connect(context));
  VAGT_TRY(const StatusView status, api.status());
  VAGT_TRY(const notify::Config config,
           config::parse_alertmanager_config(status.config_text, "the server's configuration"));
  return Route::build(config.route);
}

Result<Labels> parse_labels(const std::vector<std::string>& arguments) {
  std::map<std::string, std::string> labels;  // of the same name the last wins, as amtool has it
  for (const std::string& argument : arguments) {
    // The newer grammar first, as for configurations: it alone knows escapes outside of quotes.
    auto parsed = notify::parse_matcher(argument, notify::MatcherSyntax::Utf8);
    if (!parsed) parsed = notify::parse_matcher(argument);
    VAGT_TRY(const Matcher matcher, std::move(parsed));
    if (matcher.op() != MatchOp::Equal) {
      return Status::invalid("labels must be specified as key=value pairs");
    }
    labels[matcher.name()] = matcher.value();
  }
  return Labels::make({labels.begin(), labels.end()});
}

}  // namespace

int routes_show(Context& context, const RoutesShow& show) {
  const auto root = load_routes(context, show.config_file);
  if (!root) return context.fail(root.error());
  context.out << "Routing tree:\n";
  print_tree(context.out, whole_tree(**root));
  return kSuccess;
}

int routes_test(Context& context, const RoutesTest& test) {
  const auto root = load_routes(context, test.config_file);
  if (!root) return context.fail(root.error());
  const auto labels = parse_labels(test.labels);
  if (!labels) return context.fail(labels.error());
  if (test.tree) {
    context.out << "Matching routes:\n";
    print_tree(context.out, matching_tree(**root, *labels));
    context.out << "\n";
  }
  std::string receivers;
  for (const Route* route : (*root)->match(*labels)) {
    receivers += (receivers.empty() ? "" : ",") + route->options().receiver;
  }
  context.out << receivers << "\n";
  if (!test.expected_receivers.empty() && test.expected_receivers != receivers) {
    context.out << "WARNING: Expected receivers did not match resolved receivers.\n";
    return kFailure;
  }
  return kSuccess;
}

}  // namespace vagt::cli
