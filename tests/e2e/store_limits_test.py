"""What vagtd does when its store is at a limit: it says so, pages somebody, and goes on with what it has."""
import json
import os
import subprocess
import unittest
import urllib.error

from harness import Capture, EndToEnd, Exporter, get, get_json, wait_until

PROMETHEUS = '''
global: {{scrape_interval: 200ms, scrape_timeout: 200ms, external_labels: {{site: cph}}}}
rule_files: [rules.yml]
scrape_configs:
  - job_name: app
    static_configs: [{{targets: ["{exporter}"]}}]
'''
ALERTMANAGER = '''
route: {{receiver: hook, group_by: [alertname], group_wait: 100ms, group_interval: 300ms, repeat_interval: 1h}}
receivers:
  - name: hook
    webhook_configs: [{{url: "http://{hook}/hook", send_resolved: true}}]
'''
RULES = '''
groups: [{name: g, interval: 200ms, rules: [{alert: Down, expr: steady == 0}]}]
'''


class StoreLimits(EndToEnd):
    def start(self, *flags, path=None):
        self.steady, self.users = 1, 10
        self.exporter = self.enter(Exporter(self.page))
        self.hook = self.enter(Capture())
        self.daemon = self.vagtd(PROMETHEUS.format(exporter=self.exporter.address), ALERTMANAGER.format(hook=self.hook.address),
                                 flags=list(flags))
        if path:
            self.daemon.flags = [f for f in self.daemon.flags if not f.startswith('--storage.tsdb.path')]
            self.daemon.flags.append('--storage.tsdb.path=' + path)
        self.daemon.write('rules.yml', RULES)
        self.daemon.start()
        wait_until('a scrape', lambda: self.daemon.value('steady') == 1)

    def page(self):
        return 'steady %d\n' % self.steady + ''.join('requests_total{user="u%d"} 1\n' % i for i in range(self.users))

    def paged(self, name, status='firing'):
        for request in self.hook.seen('/hook'):
            body = json.loads(request['body'])
            for alert in body['alerts']:
                if alert['labels']['alertname'] == name and alert['status'] == status:
                    return alert
        return None

    def test_what_explodes_is_named_and_paged(self):
        self.start('--storage.max-series=300')
        self.assertNotIn('cardinalityGuard', get_json(self.daemon.url + '/api/v1/status/tsdb')['data'])
        self.users = 1000
        alert = wait_until('a page', lambda: self.paged('VagtSeriesRefused'), 30)
        self.assertEqual(alert['labels'], {'alertname': 'VagtSeriesRefused', 'severity': 'warning', 'site': 'cph'})
        self.assertIn('budget of 300 series', alert['annotations']['description'])
        guard = wait_until('the culprit', lambda: get_json(self.daemon.url + '/api/v1/status/tsdb')['data'].get('cardinalityGuard', {})
                           .get('exploding'))
        self.assertEqual((guard['metric'], guard['label']), ('requests_total', 'user'))
        self.assertEqual(self.daemon.value('steady'), 1)
        self.assertEqual(get_json(self.daemon.url + '/api/v1/rules')['data']['groups'][0]['name'], 'g')
        self.assertEqual(len(get_json(self.daemon.url + '/api/v1/rules')['data']['groups']), 1)
        self.assertIn('vagt_builtin_alert{alertname="VagtSeriesRefused"} 1', get(self.daemon.url + '/metrics'))

    def test_bytes_are_a_budget_too(self):
        self.start('--storage.max-series-bytes=200000')
        self.users = 3000
        alert = wait_until('a page', lambda: self.paged('VagtSeriesRefused'), 30)
        self.assertIn('budget of 200000 bytes', alert['annotations']['description'])

    def test_a_full_disk_is_told_paged_and_left_behind(self):
        disk = os.path.join(self.folder, 'disk')
        os.mkdir(disk)
        if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk], capture_output=True).returncode != 0:
            self.skipTest('SKIPPED: cannot mount a tmpfs (needs root)')
        self.addCleanup(subprocess.run, ['umount', '-l', disk], capture_output=True)
        self.start(path=os.path.join(disk, 'data'))
        filler = os.path.join(disk, 'filler')
        with open(filler, 'wb') as f:
            while os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize > 8 << 20:
                f.write(b'x' * (256 << 10))
                f.flush()
        alert = wait_until('a page', lambda: self.paged('VagtStoreRefusesWrites'), 30)
        self.assertIn('disk full', alert['annotations']['description'])
        self.assertEqual(alert['labels']['severity'], 'critical')
        self.assertIn('Degraded: disk full', get(self.daemon.url + '/-/healthy'))
        # The last value is still answered; nothing new comes.
        self.assertEqual(self.daemon.query('max_over_time(steady[1m])')[0]['value'][1], '1')
        with self.assertRaises(urllib.error.HTTPError) as refused:
            get(self.daemon.url + '/api/v1/import/prometheus', data=b'x 1 1700000000000\n')
        self.assertIn('disk full', refused.exception.read().decode())
        os.remove(filler)
        wait_until('writes again', lambda: self.daemon.value('count_over_time(steady[2s])'), 30)
        self.assertNotIn('Degraded', get(self.daemon.url + '/-/healthy'))
        wait_until('resolved', lambda: self.paged('VagtStoreRefusesWrites', 'resolved'), 30)
        self.assertEqual(self.daemon.stop(), 0)


if __name__ == '__main__':
    unittest.main(verbosity=2)
