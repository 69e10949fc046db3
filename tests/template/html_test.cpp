#include "template/template.h"
#include "tests/support/status_matchers.h"

namespace vagt::tmpl {
namespace {

using test::StatusIs;

std::string html(std::string_view text) {
  const TemplateSet set(alertmanager_functions([] { return from_millis(0); }));
  const ValueMap data{
      {"evil", "<b>&\"q\"'"}, {"script", "javascript:alert(1)"}, {"url", "http://x/?a=1&b=<2>"}};
  const Result<std::string> out = set.render(text, data, Escape::Html);
  return out ? *out : "ERROR " + out.error().message();
}

TEST(Html, EscapesByContext) {
  EXPECT_EQ(html("{{ .evil }}"), "&lt;b&gt;&amp;&#34;q&#34;&#39;");
  EXPECT_EQ(html("{{ html .evil }}"), "&lt;b&gt;&amp;&#34;q&#34;&#39;");
  EXPECT_EQ(html("<a href=\"{{ .url }}\">"), "<a href=\"http://x/?a=1&amp;b=%3c2%3e\">");
  EXPECT_EQ(html("<a href=\"/?q={{ .evil }}\">"), "<a href=\"/?q=%3cb%3e%26%22q%22%27\">");
  EXPECT_EQ(html("<a href=\"{{ .script }}\">"), "<a href=\"#ZgotmplZ\">");
  EXPECT_EQ(html("<a href=\"{{ safeUrl .script }}\">"), "<a href=\"javascript:alert%281%29\">");
  EXPECT_EQ(html("<script>var x = \"{{ .evil }}\";</script>"),
            "<script>var x = \"\\u003cb\\u003e\\u0026\\u0022q\\u0022\\u0027\";</script>");
  EXPECT_EQ(html("<script>f({{ .evil }})</script>"),
            "<script>f(\"\\u003cb\\u003e\\u0026\\\"q\\\"'\")</script>");
  EXPECT_EQ(html("<div style=\"color: {{ .evil }}\">"), "<div style=\"color: ZgotmplZ\">");
  EXPECT_EQ(html("<b title={{ .evil }}>"), "<b title=&lt;b&gt;&amp;&#34;q&#34;&#39;>");
  EXPECT_EQ(html("<!-- {{ .evil }} -->x"), "x");
  EXPECT_EQ(html("<title>{{ .evil }}</title>"), "<title>&lt;b&gt;&amp;&#34;q&#34;&#39;</title>");
  EXPECT_EQ(html("{{ safeHtml .evil }}"), "<b>&\"q\"'");
}

TEST(Html, FollowsTemplatesIntoTheirContext) {
  EXPECT_EQ(html("{{ define \"v\" }}{{ . }}{{ end }}<a href=\"{{ template \"v\" .script }}\">{{ "
                 "template \"v\" .evil }}</a>"),
            "<a href=\"#ZgotmplZ\">&lt;b&gt;&amp;&#34;q&#34;&#39;</a>");
  EXPECT_EQ(html("{{ range $k := list }}<a>{{ else }}<i>{{ end }}"), "<i>");
}

TEST(Html, RefusesWhatCannotBeJudged) {
  EXPECT_NE(
      html("<b>{{ if true }}<a href=\"{{ end }}x</b>").find("branches end in different contexts"),
      std::string::npos);
  EXPECT_NE(html("<a href=\"").find("ends in a non-text context"), std::string::npos);
  EXPECT_NE(html("{{ template \"none\" }}").find("no such template"), std::string::npos);
}

}  // namespace
}  // namespace vagt::tmpl
