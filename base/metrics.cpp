#include "base/metrics.h"

#include <algorithm>
#include <cassert>

#include "base/number_text.h"

namespace vagt::base {
namespace {

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

void append_label(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += "=\"";
  append_escaped(out, value, true);
  out += '"';
}

// `extra` is one more label at the end, for a bucket's bound.
void append_sample(std::string& out, std::string_view name, std::string_view suffix,
                   const Labels& labels, double value, std::string_view extra_name = {},
                   std::string_view extra_value = {}) {
  out += name;
  out += suffix;
  if (!labels.empty() || !extra_name.empty()) {
    char separator = '{';
    for (const Label& label : labels.items()) {
      out += separator;
      append_label(out, label.name, label.value);
      separator = ',';
    }
    if (!extra_name.empty()) {
      out += separator;
      append_label(out, extra_name, extra_value);
    }
    out += '}';
  }
  out += ' ';
  out += format_float_g(value);
  out += '\n';
}

// A callback's reader; null once its token is gone. The lock is held while the reader runs, so that
// destroying the token waits for it.
struct Source {
  Mutex mutex;
  Registry::Reader reader VAGT_GUARDED_BY(mutex);
};

}  // namespace

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}

void Histogram::observe(double v) {
  // A NaN is in no finite bucket, as in Go's client.
  const auto bucket = v == v ? std::lower_bound(bounds_.begin(), bounds_.end(), v) : bounds_.end();
  counts_[static_cast<size_t>(bucket - bounds_.begin())].fetch_add(1, std::memory_order_relaxed);
  double seen = sum_.load(std::memory_order_relaxed);
  while (!sum_.compare_exchange_weak(seen, seen + v, std::memory_order_relaxed)) {
  }
}

void Histogram::render(std::string& out, std::string_view name, const Labels& labels) const {
  uint64_t total = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    total += counts_[i].load(std::memory_order_relaxed);
    const std::string bound = i < bounds_.size() ? format_float_g(bounds_[i]) : "+Inf";
    append_sample(out, name, "_bucket", labels, static_cast<double>(total), "le", bound);
  }
  append_sample(out, name, "_sum", labels, sum_.load(std::memory_order_relaxed));
  append_sample(out, name, "_count", labels, static_cast<double>(total));
}

struct Registry::Family {
  std::string_view type;
  std::string help;
  std::map<Labels, std::unique_ptr<Counter>> counters;
  std::map<Labels, std::unique_ptr<Gauge>> gauges;
  std::map<Labels, std::unique_ptr<Histogram>> histograms;
  std::vector<std::shared_ptr<Source>> sources;
};

struct Registry::State {
  Family& family(std::string_view name, std::string_view help, std::string_view type)
      VAGT_REQUIRES(mutex) {
    auto found = families.find(name);
    if (found == families.end()) {
      found = families.try_emplace(std::string(name)).first;
      found->second.type = type;
      found->second.help = help;
    }
    assert(found->second.type == type);
    return found->second;
  }

  Mutex mutex;
  std::map<std::string, Family, std::less<>> families VAGT_GUARDED_BY(mutex);
  std::vector<std::shared_ptr<void>> kept VAGT_GUARDED_BY(mutex);
};

Registry::Registry() : state_(std::make_shared<State>()) {}

Registry::~Registry() {
  std::vector<std::shared_ptr<void>> kept;
  {
    MutexLock lock(state_->mutex);
    kept.swap(state_->kept);
  }
}

Counter& Registry::counter(std::string_view name, std::string_view help, const Labels& labels) {
  MutexLock lock(state_->mutex);
  auto& slot = state_->family(name, help, "counter").counters[labels];
  if (slot == nullptr) slot = std::make_unique<Counter>();
  return *slot;
}

Gauge& Registry::gauge(std::string_view name, std::string_view help, const Labels& labels) {
  MutexLock lock(state_->mutex);
  auto& slot = state_->family(name, help, "gauge").gauges[labels];
  if (slot == nullptr) slot = std::make_unique<Gauge>();
  return *slot;
}

Histogram& Registry::histogram(std::string_view name, std::string_view help,
                               std::vector<double> bounds, const Labels& labels) {
  MutexLock lock(state_->mutex);
  auto& slot = state_->family(name, help, "histogram").histograms[labels];
  if (slot == nullptr) slot = std::make_unique<Histogram>(std::move(bounds));
  return *slot;
}

std::shared_ptr<void> Registry::callback(Kind kind, std::string_view name, std::string_view help,
                                         Reader reader) {
  auto source = std::make_shared<Source>();
  {
    MutexLock lock(source->mutex);
    source->reader = std::move(reader);
  }
  MutexLock lock(state_->mutex);
  state_->family(name, help, kind == Kind::Counter ? "counter" : "gauge").sources.push_back(source);
  const auto remove = [state = std::weak_ptr<State>(state_), name = std::string(name)](Source* s) {
    {
      MutexLock source_lock(s->mutex);
      s->reader = nullptr;
    }
    if (const auto alive = state.lock()) {
      MutexLock state_lock(alive->mutex);
      const auto found = alive->families.find(name);
      if (found == alive->families.end()) return;
      std::erase_if(found->second.sources, [s](const auto& held) { return held.get() == s; });
    }
  };
  // The token keeps the source alive through `source`, and removes it when the last copy goes.
  return std::shared_ptr<Source>(source.get(), [source, remove](Source* s) { remove(s); });
}

void Registry::keep(std::shared_ptr<void> token) {
  MutexLock lock(state_->mutex);
  state_->kept.push_back(std::move(token));
}

std::string Registry::render() const {
  // Callbacks run without the registry's lock: they may take other locks, or register metrics.
  struct Page {
    std::string text;
    std::vector<std::shared_ptr<Source>> sources;
  };
  std::map<std::string, Page> pages;
  {
    MutexLock lock(state_->mutex);
    for (const auto& [name, family] : state_->families) {
      Page& page = pages[name];
      page.text = "# HELP " + name + ' ';
      append_escaped(page.text, family.help, false);
      page.text += "\n# TYPE " + name + ' ' + std::string(family.type) + '\n';
      for (const auto& [labels, counter] : family.counters)
        append_sample(page.text, name, "", labels, counter->value());
      for (const auto& [labels, gauge] : family.gauges)
        append_sample(page.text, name, "", labels, gauge->value());
      for (const auto& [labels, histogram] : family.histograms)
        histogram->render(page.text, name, labels);
      page.sources = family.sources;
    }
  }
  std::string out;
  for (auto& entry : pages) {
    const std::string& name = entry.first;
    Page& page = entry.second;
    const auto emit = [&name, &page](const Labels& labels, double value) {
      append_sample(page.text, name, "", labels, value);
    };
    for (const auto& source : page.sources) {
      MutexLock lock(source->mutex);
      if (source->reader) source->reader(emit);
    }
    out += page.text;
  }
  return out;
}

}  // namespace vagt::base
