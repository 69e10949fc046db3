"""Each rule of the fixture kit (../shared/agent/rules.yml), and each documented one, fires from pages of the agent, and no other does.

A page before the fault and a page after it, of the real agent on a played host, become a history, which `vagtctl test rules` puts to the
rules: before the fault nothing fires, after it this alert, and those that such a fault must raise besides.
Skips, loudly, without the kit. VAGT_FAULTS=A,B runs these only.
"""
import itertools
import json
import os
import re
import shutil
import subprocess
import time
import unittest

import agent_faults
import harness
from played_host import PlayedHost

SHARED = os.environ.get('VAGT_SHARED', os.path.join(harness.ROOT, '..', 'shared'))
KIT = os.path.join(SHARED, 'agent', 'fixtures')
FIRING = 'max by (alertname) (ALERTS{alertstate="firing"})'
# What goes on by itself while a host runs; two pages cannot show it.
RUNS = re.compile(r'vagt_collector_last_success_timestamp_seconds|node_time_seconds|node_cpu_seconds_total\{.*mode="idle"'
                  r'|vagt_\w+_last_success_timestamp_seconds|vagt_container_last_seen_timestamp_seconds')


def names_in(rules):
    names = set()
    for text in re.findall(r'expr: (.*)$', rules, re.M):
        text = re.sub(r'"[^"]*"', '', json.loads(text) if text.startswith('"') else text)
        names |= set(re.findall(r'\b(?:node|vagt|DCGM|ipmi|smartctl|vllm|container)_?[A-Za-z0-9_:]*|\bup\b', text))
    return names


def labelled(page, names, instance):
    own = 'instance="%s",job="vagt"' % instance
    out = {}
    for series, value in page.items():
        name, brace, rest = series.partition('{')
        if name in names:
            out['%s{%s%s' % (name, own, ',' + rest if brace else '}')] = value
    return out


def written(values):
    """As rule tests write samples: `3.0x4` is five times 3."""
    words = []
    for value, group in itertools.groupby(values):
        count = len(list(group))
        if value is None or count == 1 or 'e' in repr(value):
            words += ['_' if value is None else repr(value)] * count
        else:
            words.append('%rx%d' % (value, count - 1))
    return ' '.join(words)


class History:
    """Series over time, out of pages."""

    def __init__(self, fault, start, taken):
        self.fault, self.start = fault, start
        self.age = start - taken    # of the page before the fault: its times go on until then
        self.lead = fault.before // fault.step + 1
        self.tail = max(1, fault.minutes // fault.step)
        self.series = {}

    def add(self, pages, ramp):
        """`pages`: the one before; those at the fault that last a sample each; the one after."""
        before, after = pages[0], pages[-1]
        for series in sorted(set().union(*pages)):
            first, last = before.get(series), after.get(series)
            values = [first] * self.lead + [page.get(series) for page in pages[1:-1]]
            for k in range(1, self.tail + 1):
                even = ramp and first is not None and last is not None
                values.append(first + (last - first) * k / self.tail if even else last)
            still = self.fault.still and re.match(self.fault.still, series)
            if RUNS.match(series):
                values = self.run(series, values, bool(still))
            elif still and 'node_cpu' not in series and 'last_success' not in series:
                values[self.lead:] = [None] * (len(values) - self.lead)
            self.series[series] = values

    def run(self, series, values, still):
        seconds = 60 * self.fault.step
        out = []
        for k, value in enumerate(values):
            since = (k - self.lead + 1) * seconds
            if still and since > 0:
                since = 0
            if k < self.lead:
                since += self.age
            out.append(None if value is None else value + since)
        return out

    def document(self, alert, rules):
        series = [{'series': name, 'values': written(values)} for name, values in self.series.items()]
        step = self.fault.step
        last = max(len(v) for v in self.series.values()) - 1
        asked = [{'expr': FIRING, 'eval_time': '%dm' % ((self.lead - 1) * step), 'exp_samples': []},
                 {'expr': FIRING, 'eval_time': '%dm' % (last * step),
                  'exp_samples': [{'labels': '{alertname="%s"}' % name, 'value': 1} for name in sorted({alert} | self.fault.also)]}]
        start = self.start - (self.lead - 1) * step * 60
        return json.dumps({'rule_files': [rules], 'evaluation_interval': '%dm' % step,
                           'tests': [{'interval': '%dm' % step, 'start_timestamp': int(start), 'input_series': series,
                                      'promql_expr_test': asked}]})


class FromPages(harness.EndToEnd):
    rules, faults = None, None

    def setUp(self):
        super().setUp()
        with open(self.rules, encoding='utf-8') as f:
            self.text = f.read()
        self.names = names_in(self.text)
        self.alerts = re.findall(r'- alert: (\w+)', self.text)
        self.well = PlayedHost(KIT, os.path.join(self.folder, 'well'))
        self.prepare()
        self.well.page()    # the agent learns which GPU is where
        self.before = self.well.page()
        self.taken = time.time()

    def prepare(self):
        pass

    def after(self, fault, folder):
        """The pages of a host like the healthy one that suffers the fault."""
        pages = []
        for age in ([1] if fault.birth else []) + [60]:
            host = self.well.snapshot(folder)
            if fault.kill:
                host.start()
                host.kill9()
            if fault.birth:
                fault.happens(host, age)
            elif fault.happens:
                fault.happens(host)
            pages.append(host.page())
            shutil.rmtree(folder)
        return pages

    def group_of(self, alert):
        groups = self.text.split('\n  - name: ')
        path = os.path.join(self.folder, alert + '.rules.yml')
        with open(path, 'w', encoding='utf-8') as f:
            f.write('groups:\n  - name: ' + next(g for g in groups if '- alert: %s\n' % alert in g) + '\n')
        return path

    def check(self, alert, fault):
        pages = [self.before] + self.after(fault, os.path.join(self.folder, alert))
        history = History(fault, time.time(), self.taken)
        history.add([labelled(page, self.names, 'gpu:9500') for page in pages], fault.ramp)
        if fault.second:
            other = self.well.snapshot(os.path.join(self.folder, 'second'))
            fault.second(other)
            page = labelled(other.page(), self.names, 'other:9500')
            history.add([page] * len(pages), False)
            for series, values in history.series.items():   # it joins when the history begins
                if 'instance="other' in series:
                    values[:history.lead] = [None] * history.lead
        now = dict(agent_faults.SCRAPER)
        now.update(fault.scraper)
        history.add([agent_faults.SCRAPER] * (len(pages) - 1) + [now], fault.ramp)
        document = os.path.join(self.folder, alert + '.test.yml')
        # Over days, evaluation by evaluation, the alert's own group is enough.
        rules = self.rules if fault.step == 1 else self.group_of(alert)
        with open(document, 'w', encoding='utf-8') as f:
            f.write(history.document(alert, rules))
        run = subprocess.run([os.path.join(harness.BIN, 'vagtctl'), 'test', 'rules', document], capture_output=True, text=True,
                             timeout=200)
        self.assertEqual(run.returncode, 0, run.stdout[-1500:] + run.stderr[-1500:])

    def check_all(self):
        self.assertEqual(set(self.faults), set(self.alerts), 'each rule has its fault')
        only = os.environ.get('VAGT_FAULTS', '')
        asked = [alert for alert in self.alerts if not only or alert in only.split(',')]
        wrong = []
        for alert in asked:
            try:
                self.check(alert, self.faults[alert])
            except AssertionError as error:
                wrong.append(alert)
                print('%s: %s' % (alert, error), flush=True)
        print('%s: %d of %d rules fired from agent pages, each with what its fault must raise besides, and no other'
              % (os.path.basename(self.rules), len(asked) - len(wrong), len(asked)))
        self.assertEqual(wrong, [])


@unittest.skipUnless(os.path.exists(KIT), 'SKIPPED: %s is not there; no rule of the kit was tried' % KIT)
class SharedRules(FromPages):
    rules, faults = os.path.join(SHARED, 'agent', 'rules.yml'), agent_faults.FAULTS

    def test_each_rule_fires_from_the_pages_of_its_fault_and_no_other(self):
        self.check_all()


@unittest.skipUnless(os.path.exists(KIT), 'SKIPPED: %s is not there; no documented rule was tried on agent pages' % KIT)
class DocumentedRules(FromPages):
    rules, faults = os.path.join(harness.ROOT, 'rules', 'library', 'documented.rules.yml'), agent_faults.DOCUMENTED

    def prepare(self):
        # An H100 at work draws more than what the documented rule takes for too much.
        self.well.edit('answers/nvidia-smi.xml', '<average_power_draw>[^<]*<', '<average_power_draw>430.00 W<')

    def test_each_documented_rule_fires_from_the_pages_of_its_fault_and_no_other(self):
        self.check_all()


if __name__ == '__main__':
    unittest.main(verbosity=2)
