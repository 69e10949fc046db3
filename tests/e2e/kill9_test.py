"""kill -9 of vagtd while an alert is pending and while it fires: the clock goes on, nothing is lost, nothing comes twice."""
import json
import time
import unittest

from harness import PATIENCE, Capture, EndToEnd, Exporter, get, wait_until

RULES = '''
groups:
  - name: gpu
    interval: 200ms
    rules:
      - alert: Hot
        expr: temperature > 87
        for: 6s
        labels: {severity: critical}
        annotations: {summary: "{{ $labels.gpu }} at {{ $value }}"}
'''
PROMETHEUS = '''
global: {{scrape_interval: 200ms, scrape_timeout: 200ms}}
rule_files: [rules.yml]
scrape_configs:
  - job_name: gpu
    static_configs: [{{targets: ["{exporter}"]}}]
'''
ALERTMANAGER = '''
route: {{receiver: hook, group_by: [alertname], group_wait: 100ms, group_interval: 300ms, repeat_interval: 1h}}
receivers:
  - name: hook
    webhook_configs: [{{url: "http://{hook}/hook", send_resolved: true}}]
'''


class Kill9(EndToEnd):
    def setUp(self):
        super().setUp()
        self.temperature = 60
        self.exporter = self.enter(Exporter(lambda: 'temperature{gpu="3"} %d\n' % self.temperature))
        self.hook = self.enter(Capture())
        # A short grace period, or the restored clock would wait ten minutes by Prometheus's rule.
        self.daemon = self.vagtd(PROMETHEUS.format(exporter=self.exporter.address), ALERTMANAGER.format(hook=self.hook.address),
                                 flags=['--rules.alert.for-grace-period=1s'])
        self.daemon.write('rules.yml', RULES)
        self.daemon.start()
        wait_until('a scrape', lambda: self.daemon.value('temperature') == 60)

    def alert(self):
        alerts = [r for g in json.loads(self.rules_page())['data']['groups'] for r in g['rules']][0]['alerts']
        return alerts[0] if alerts else None

    def rules_page(self):
        return get(self.daemon.url + '/api/v1/rules')

    def messages(self, status):
        return [r for r in self.hook.seen('/hook') if json.loads(r['body'])['status'] == status]

    def wait_recorded(self):
        """Until the delivery is on disk: a kill between the receiver's answer and that may repeat the page, and says so in it."""
        wait_until('on record', lambda: 'vagt_notify_recorded_total 1\n' in get(self.daemon.url + '/metrics'))

    def restart(self):
        self.daemon.kill9()
        self.daemon.start()

    def test_pending_keeps_its_clock(self):
        self.temperature = 91
        before = wait_until('pending', self.alert)
        began = time.time()
        self.assertEqual(before['state'], 'pending')
        time.sleep(4.5)
        self.restart()
        ready = time.time() - began
        after = wait_until('pending again', self.alert)
        self.assertEqual(after['activeAt'], before['activeAt'])
        wait_until('paged', lambda: self.messages('firing'), 15)
        # 6 s after it began, not 6 s after the restart; or at once, when the restart took that long.
        waited = self.messages('firing')[0]['at'] - began
        self.assertGreater(waited, 5)
        self.assertLess(waited, max(6, ready) + 2 * PATIENCE)
        self.assertEqual(json.loads(self.messages('firing')[0]['body'])['alerts'][0]['annotations']['summary'], '3 at 91')

    def test_firing_is_neither_lost_nor_repeated(self):
        self.temperature = 91
        wait_until('paged', lambda: self.messages('firing'), 20)
        self.wait_recorded()
        for _ in range(3):
            self.restart()
            wait_until('still firing', lambda: (self.alert() or {}).get('state') == 'firing')
            time.sleep(1)
        self.assertEqual(len(self.messages('firing')), 1)
        self.temperature = 60
        wait_until('resolved', lambda: self.messages('resolved'))
        self.wait_recorded()
        self.restart()
        time.sleep(1)
        self.assertEqual((len(self.messages('firing')), len(self.messages('resolved'))), (1, 1))

    def test_a_page_owed_at_the_kill_goes_out_after_it(self):
        down = True
        self.hook.reply = lambda path, body: (503, 'down') if down else (200, 'ok')
        self.temperature = 91
        wait_until('an attempt', lambda: self.hook.seen('/hook', accepted=False), 20)
        self.daemon.kill9()
        down = False
        self.daemon.start()
        wait_until('paged after the restart', lambda: self.messages('firing'))
        time.sleep(1)
        self.assertEqual(len(self.messages('firing')), 1)

    def test_samples_a_query_showed_are_there_after_it(self):
        wait_until('ten samples', lambda: (self.daemon.value('count_over_time(temperature[1m])') or 0) >= 10)
        shown = self.daemon.query('temperature[1m]')[0]['values']
        self.restart()
        again = self.daemon.query('temperature[2m]')[0]['values']
        self.assertEqual([v for v in shown if v not in again], [])


if __name__ == '__main__':
    unittest.main(verbosity=2)
