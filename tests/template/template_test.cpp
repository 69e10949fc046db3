#include "template/template.h"

#include "template/humanize.h"
#include "tests/support/status_matchers.h"

namespace vagt::tmpl {
namespace {

using test::IsOk;
using test::StatusIs;

TemplateValue data() {
  return ValueMap{{"name", "gpu"},
                  {"count", int64_t{3}},
                  {"list", ValueList{"a", "b", "c"}},
                  {"at", from_millis(1'435'065'584'128)},
                  {"labels", ValueMap{{"host", "n1"}, {"gpu", "3"}}}};
}

std::string run(std::string_view text, const Limits& limits = {}) {
  const TemplateSet set(prometheus_functions());
  const Result<std::string> out = set.render(text, data(), Escape::None, limits);
  return out ? *out : "ERROR " + out.error().message();
}

struct Case {
  const char* text;
  const char* want;
};

TEST(Template, RunsTheLanguage) {
  const Case cases[] = {
      {"plain", "plain"},
      {"a {{- .name -}} b", "agpub"},
      {"{{/* note */}}x", "x"},
      {"{{ .labels.host }}/{{ .labels.none }}|", "n1/|"},
      {"{{ if .none }}y{{ else if eq .name \"gpu\" }}z{{ else }}n{{ end }}", "z"},
      {"{{ range $i, $e := .list }}{{ $i }}{{ $e }}{{ end }}", "0a1b2c"},
      {"{{ range $k, $v := .labels }}{{ $k }}={{ $v }};{{ end }}", "gpu=3;host=n1;"},
      {"{{ range .list }}{{ if eq . \"b\" }}{{ continue }}{{ end }}{{ . }}{{ end }}", "ac"},
      {"{{ range .list }}{{ if eq . \"b\" }}{{ break }}{{ end }}{{ . }}{{ end }}", "a"},
      {"{{ range 3 }}{{ . }}{{ end }}", "012"},
      {"{{ with .none }}a{{ else with .name }}{{ . }}{{ else }}c{{ end }}", "gpu"},
      {"{{ $x := 1 }}{{ range .list }}{{ $x = . }}{{ end }}{{ $x }}", "c"},
      {"{{ define \"t\" }}<{{ . }}>{{ end }}{{ template \"t\" .name }}", "<gpu>"},
      {"{{ block \"b\" .count }}[{{ . }}]{{ end }}", "[3]"},
      {"{{ and 1 0 2 }} {{ or 0 \"\" \"x\" }} {{ not 1 }}", "0 x false"},
      {"{{ or true (index .list 99) }}", "true"},
      {"{{ lt 1 2 }} {{ ge 2 3 }} {{ eq 1 2 3 1 }}", "true false true"},
      {"{{ index .list 1 }} {{ len .list }} {{ slice \"abcdef\" 1 3 }}", "b 3 bc"},
      {"{{ .name | toUpper | printf \"%s-%d\" \"x\" 5 }}", "x-5%!(EXTRA string=GPU)"},
      {"{{ .at.Format \"2006-01-02 15:04:05.000\" }} {{ .at.Year }}",
       "2015-06-23 13:19:44.128 2015"},
      {"{{ html \"<a>\" }} {{ urlquery \"a b&c\" }} {{ js \"it's\" }}", "&lt;a&gt; a+b%26c it\\'s"},
      {"{{ 1e6 }} {{ 0x10 }} {{ 'a' }} {{ 1.5 }}", "1e+06 16 97 1.5"},
      {"{{ nosuch }}", "ERROR template: :1:3: function \"nosuch\" not defined"},
      {"{{ .name.x }}",
       "ERROR template: :1:3: executing \"\" at <.name.x>: can't evaluate field x in type string"},
      {"{{ eq 1 \"a\" }}",
       "ERROR template: :1:3: executing \"\" at <eq 1 \"a\">: error calling eq: incompatible types "
       "for comparison"},
  };
  for (const Case& c : cases) EXPECT_EQ(run(c.text), c.want) << c.text;
}

TEST(Template, EndsOnEveryCutText) {
  const std::string whole =
      "{{ define \"x\" }}{{ range $i, $e := .list }}{{ if (eq $e \"b\") | not }}{{ $e | printf "
      "`%s` }}{{ else }}"
      "{{ template \"x\" (index .list 0) }}{{ end }}{{ end }}{{ end }}";
  const TemplateSet set(prometheus_functions());
  for (size_t n = 0; n < whole.size(); ++n) {
    const Status status = set.check(whole.substr(0, n));
    EXPECT_TRUE(status.ok() || status.code() == Code::InvalidArgument) << n;
  }
  EXPECT_THAT(set.check(whole), IsOk());
}

TEST(Template, StopsAtItsLimits) {
  Limits limits;
  limits.max_output_bytes = 100;
  EXPECT_NE(run("{{ range 1000 }}xxxxxxxxxx{{ end }}", limits).find("output exceeds 100 bytes"),
            std::string::npos);
  limits = {};
  limits.max_steps = 1000;
  EXPECT_NE(run("{{ range 1000000000 }}{{ end }}", limits).find("exceeded 1000 steps"),
            std::string::npos);
  EXPECT_NE(run("{{ define \"r\" }}{{ template \"r\" . }}{{ end }}{{ template \"r\" . }}")
                .find("maximum template depth"),
            std::string::npos);
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "(";
  EXPECT_NE(run("{{ " + deep).find("too deeply nested"), std::string::npos);
}

TEST(Template, KeepsDefinitionsOfASet) {
  TemplateSet set(alertmanager_functions([] { return from_millis(0); }));
  ASSERT_THAT(set.add("a.tmpl", "{{ define \"t\" }}first{{ end }}"), IsOk());
  ASSERT_THAT(set.add("b.tmpl", "{{ define \"t\" }}second{{ end }}"), IsOk());
  EXPECT_THAT(set.add("c.tmpl", "{{ define }}"),
              StatusIs(Code::InvalidArgument, "template: c.tmpl:1:"));
  EXPECT_TRUE(set.defines("t"));
  EXPECT_EQ(*set.render("{{ template \"t\" }}", {}), "second");
  EXPECT_EQ(*set.render("{{ define \"t\" }}own{{ end }}{{ template \"t\" }}", {}), "own");
  const TemplateSet copy(set);
  EXPECT_EQ(*copy.render("{{ template \"t\" }}", {}), "second");
  EXPECT_THAT(set.check("{{ template \"none\" }}"), StatusIs(Code::InvalidArgument, "not defined"));
  EXPECT_THAT(set.check_syntax("{{ template \"none\" }}"), IsOk());
}

TEST(Template, DeclaredVariablesAreFieldsOfTheData) {
  TemplateSet set(prometheus_functions());
  set.declare({{"$labels", "labels"}});
  EXPECT_EQ(*set.render("{{ $labels.host }}", data()), "n1");
  EXPECT_THAT(set.check("{{ $label.host }}"),
              StatusIs(Code::InvalidArgument, "undefined variable \"$label\""));
}

TEST(Humanize, PrintsAsPrometheusDoes) {
  EXPECT_EQ(humanize(1234567), "1.235M");
  EXPECT_EQ(humanize(0.001), "1m");
  EXPECT_EQ(humanize(-0.5), "-500m");
  EXPECT_EQ(humanize1024(1048576), "1Mi");
  EXPECT_EQ(humanize_duration(90061), "1d 1h 1m 1s");
  EXPECT_EQ(humanize_duration(0.0000005), "500ns");
  EXPECT_EQ(humanize_percentage(0.12345678), "12.35%");
  EXPECT_EQ(humanize(1e300), "1e+276Y");
  EXPECT_THAT(float_to_time(1e19), StatusIs(Code::InvalidArgument, "overflows"));
}

}  // namespace
}  // namespace vagt::tmpl
