"""Rules over what real targets do: a failed scrape of any kind restarts the `for` clock, sensors say NaN, label values hold line
breaks. (The same cases at simulated time: tests/rules/rule_test_test.cpp.)"""
import json
import time
import unittest
import urllib.parse

from harness import EndToEnd, HttpService, QuietHandler, get, get_json, wait_until

RULES = '''
groups:
  - name: g
    interval: 200ms
    rules:
      - {alert: GpuHot, expr: gpu_temp_celsius > 90, for: 3s}
      - {alert: GpuHotSticky, expr: gpu_temp_celsius > 90, for: 3s, keep_firing_for: 30s}
      - {alert: BmcHot, expr: bmc_temp_celsius > 90}
'''
PROMETHEUS = '''
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
rule_files: [rules.yml]
scrape_configs:
  - job_name: gpu
    static_configs: [{{targets: ["{target}"]}}]
'''
PAGE = '''gpu_temp_celsius{gpu="3"} 95
bmc_temp_celsius{id="1"} 40
bmc_temp_celsius{id="2"} NaN
bmc_temp_celsius{id="3"} 95
note{msg="first\\nsecond"} 1
'''


class Target(HttpService):
    """Answers, or fails as `mode` says."""

    def __init__(self):
        target = self
        self.mode = 'good'

        class Handler(QuietHandler):
            def do_GET(self):
                if target.mode == 'status':
                    return self.answer(500, 'no')
                if target.mode == 'hangs':
                    time.sleep(1.5)
                    self.close_connection = True
                    return None
                if target.mode == 'closes':
                    self.close_connection = True
                    return None
                return self.answer(200, PAGE)

        super().__init__(Handler)
        self.server.handle_error = lambda *_: None


class RulesFieldCases(EndToEnd):
    def setUp(self):
        super().setUp()
        self.target = self.enter(Target())
        self.daemon = self.vagtd(PROMETHEUS.format(target=self.target.address))
        self.daemon.write('rules.yml', RULES)
        self.daemon.start()

    def alerts(self, name):
        rules = [r for g in get_json(self.daemon.url + '/api/v1/rules')['data']['groups'] for r in g['rules']]
        return [r for r in rules if r['name'] == name][0]['alerts']

    def state(self, name):
        alerts = self.alerts(name)
        return alerts[0]['state'] if alerts else 'inactive'

    def value(self, expr):
        """As the JSON has it."""
        return [r['value'][1] for r in self.daemon.query(expr)]

    def test_a_failed_scrape_of_any_kind_ends_the_series_and_the_alert(self):
        for mode in ('status', 'hangs', 'closes'):
            with self.subTest(mode=mode):
                wait_until('firing', lambda: self.state('GpuHot') == self.state('GpuHotSticky') == 'firing')
                since = self.alerts('GpuHotSticky')[0]['activeAt']
                self.target.mode = mode
                wait_until('down', lambda: self.value('up') == ['0'])
                wait_until('over', lambda: self.state('GpuHot') == 'inactive')
                self.assertEqual(self.value('gpu_temp_celsius'), [])
                self.assertEqual(self.state('GpuHotSticky'), 'firing')
                self.target.mode = 'good'
                anew = wait_until('there anew', lambda: self.alerts('GpuHot'))[0]
                self.assertGreater(anew['activeAt'], since)
                self.assertEqual(self.alerts('GpuHotSticky')[0]['activeAt'], since)

    def test_sensors_that_say_nan(self):
        wait_until('a scrape', lambda: self.value('count(bmc_temp_celsius)') == ['3'])
        for expr, expected in (('max(bmc_temp_celsius)', '95'), ('min(bmc_temp_celsius)', '40'), ('avg(bmc_temp_celsius)', 'NaN'),
                               ('count(bmc_temp_celsius > 90)', '1'), ('count(bmc_temp_celsius <= 90)', '1'),
                               ('avg(bmc_temp_celsius == bmc_temp_celsius)', '67.5'), ('bmc_temp_celsius{id="2"}', 'NaN')):
            self.assertEqual(self.value(expr), [expected], expr)
        for expr, sensor in (('topk(1, bmc_temp_celsius)', '3'), ('bmc_temp_celsius != bmc_temp_celsius', '2')):
            self.assertEqual([r['metric']['id'] for r in self.daemon.query(expr)], [sensor], expr)
        self.assertEqual(self.value('absent(bmc_temp_celsius{id="2"})'), [])
        text = get(self.daemon.url + '/api/v1/query?' + urllib.parse.urlencode({'query': 'bmc_temp_celsius{id="2"}'}))
        self.assertIn('"NaN"', text)
        json.loads(text)
        wait_until('the alert', lambda: self.alerts('BmcHot'))
        self.assertEqual([a['labels']['id'] for a in self.alerts('BmcHot')], ['3'])

    def test_a_dot_matches_a_line_break(self):
        wait_until('found', lambda: self.value('note{msg=~"first.+second"}') == ['1'])


if __name__ == '__main__':
    unittest.main(verbosity=2)
