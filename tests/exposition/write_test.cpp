#include "exposition/write.h"

#include <gmock/gmock.h>

namespace vagt::exposition {
namespace {

Family family() {
  Family f;
  f.name = "a.b_seconds";
  f.type = MetricType::Unknown;
  f.help = "line\none \\";
  f.unit = "seconds";
  f.samples = {
      {"a.b_seconds", Labels::of({{"x", "q\"uo\nte\\"}, {"y.z", "1"}}), 1.5, from_millis(1500)},
      {"plain", Labels(), 2, {}}};
  return f;
}

TEST(Write, Text) {
  const Family f = family();
  EXPECT_EQ(write_page({&f, 1}, Format::Text),
            "# HELP \"a.b_seconds\" line\\none \\\\\n# TYPE \"a.b_seconds\" untyped\n"
            "{\"a.b_seconds\",x=\"q\\\"uo\\nte\\\\\",\"y.z\"=\"1\"} 1.5 1500\nplain 2\n");
}

TEST(Write, WhatIsWrittenParses) {
  const Family f = family();
  for (const Format format : {Format::Text, Format::OpenMetrics}) {
    const std::string page = write_page({&f, 1}, format);
    Parser parser(page, format);
    int samples = 0;
    while (parser.next()) samples += parser.entry().kind == EntryKind::Sample;
    EXPECT_TRUE(parser.status().ok()) << parser.status().message() << "\n" << page;
    EXPECT_EQ(samples, 2);
  }
}

}  // namespace
}  // namespace vagt::exposition
