"""Bad input: a configuration that does not load, targets that answer rubbish or nothing, a receiver that is down, nobody to page."""
import json
import os
import signal
import subprocess
import time
import unittest

from harness import BIN, Capture, EndToEnd, Exporter, HttpService, QuietHandler, free_port, get, get_json, wait_until

ALERTMANAGER = '''
route: {{receiver: hook, group_by: [alertname], group_wait: 100ms, group_interval: 500ms, repeat_interval: 1h}}
receivers:
  - name: hook
    webhook_configs: [{{url: "http://{hook}/hook", send_resolved: true}}]
'''


class Hanging(HttpService):
    """Takes the request and never answers."""

    def __init__(self):
        class Handler(QuietHandler):
            def do_GET(self):
                time.sleep(20)

        super().__init__(Handler)


class BadInput(EndToEnd):
    def metric(self, daemon, name):
        for line in get(daemon.url + '/metrics').splitlines():
            if line.startswith(name + ' '):
                return float(line.split()[1])

    def test_start_refuses_a_faulty_configuration_with_its_place(self):
        daemon = self.vagtd('global:\n  scrape_intervall: 15s\n').start(ready=False)
        daemon.program.process.wait(10)
        self.assertEqual(daemon.program.process.returncode, 1)
        self.assertIn('prometheus.yml:2:3', daemon.program.output())
        self.assertIn('scrape_interval', daemon.program.output())

    def test_start_refuses_a_faulty_rule_with_its_place(self):
        daemon = self.vagtd('rule_files: [rules.yml]\n')
        daemon.write('rules.yml', 'groups:\n  - name: g\n    rules:\n      - alert: A\n        expr: "up =="\n')
        daemon.start(ready=False)
        daemon.program.process.wait(10)
        self.assertEqual(daemon.program.process.returncode, 1)
        self.assertIn('rules.yml:5', daemon.program.output())

    def test_a_faulty_reload_keeps_the_old_configuration(self):
        exporter = self.enter(Exporter(lambda: 'a 1\n'))
        good = ('global: {scrape_interval: 200ms, scrape_timeout: 200ms}\nscrape_configs:\n  - job_name: x\n'
                '    static_configs: [{targets: ["%s"]}]\n' % exporter.address)
        daemon = self.vagtd(good, flags=['--web.enable-lifecycle']).start()
        wait_until('a sample', lambda: daemon.value('a') == 1)
        self.assertEqual(self.metric(daemon, 'prometheus_config_last_reload_successful'), 1)
        daemon.write('prometheus.yml', good + 'nonsense: true\n')
        daemon.program.process.send_signal(signal.SIGHUP)
        wait_until('the metric says so', lambda: self.metric(daemon, 'prometheus_config_last_reload_successful') == 0)
        with self.assertRaises(Exception) as refused:
            get(daemon.url + '/-/reload', method='POST', data=b'')
        self.assertEqual(refused.exception.code, 500)
        self.assertIn('nonsense', refused.exception.read().decode())
        scrapes = exporter.scrapes
        wait_until('scraping goes on', lambda: exporter.scrapes > scrapes + 2)
        daemon.write('prometheus.yml', good)
        get(daemon.url + '/-/reload', method='POST', data=b'')
        self.assertEqual(self.metric(daemon, 'prometheus_config_last_reload_successful'), 1)

    def test_bad_targets_are_down_with_a_reason_and_harm_nobody(self):
        good = self.enter(Exporter(lambda: 'fine 1\n'))
        rubbish = self.enter(Exporter(lambda: 'a 1\nb one\nc 3\n'))
        html = self.enter(Exporter(lambda: '<html>login</html>\n'))
        hanging = self.enter(Hanging())
        gone = '127.0.0.1:%d' % free_port()
        daemon = self.vagtd(
            'global: {scrape_interval: 300ms, scrape_timeout: 300ms}\nscrape_configs:\n  - job_name: x\n'
            '    static_configs: [{targets: ["%s"]}]\n' % '", "'.join([good.address, rubbish.address, html.address, hanging.address, gone]))
        daemon.start()
        wait_until('every target was tried', lambda: len(daemon.query('up')) == 5)
        up = {r['metric']['instance']: r['value'][1] for r in daemon.query('up')}
        self.assertEqual(up, {good.address: '1', rubbish.address: '0', html.address: '0', hanging.address: '0', gone: '0'})
        self.assertEqual(daemon.query('a'), [])
        errors = {t['labels']['instance']: t['lastError'] for t in get_json(daemon.url + '/api/v1/targets')['data']['activeTargets']}
        self.assertEqual(errors[good.address], '')
        self.assertIn('line 2', errors[rubbish.address])
        self.assertIn('deadline exceeded', errors[hanging.address])
        self.assertIn('connection refused', errors[gone])
        missed = daemon.value('count_over_time(up{instance="%s"}[2s])' % good.address)
        time.sleep(2)
        self.assertGreaterEqual(daemon.value('sum_over_time(up{instance="%s"}[2s])' % good.address), 5, missed)

    def test_a_receiver_that_is_down_is_tried_again(self):
        down = {'now': True}
        hook = self.enter(Capture(lambda path, body: (503, 'down') if down['now'] else (200, 'ok')))
        daemon = self.vagtd(alertmanager_yml=ALERTMANAGER.format(hook=hook.address)).start()
        post = lambda name: get(daemon.url + '/api/v2/alerts', headers={'Content-Type': 'application/json'},
                                data=json.dumps([{'labels': {'alertname': name}}]).encode())
        post('First')
        wait_until('two attempts', lambda: len(hook.seen(accepted=False)) >= 2)
        post('Second')
        down['now'] = False
        wait_until('both delivered', lambda: {json.loads(r['body'])['groupLabels']['alertname'] for r in hook.seen()} == {'First', 'Second'})

    def test_with_no_receiver_it_says_that_nobody_will_be_paged(self):
        daemon = self.vagtd('global: {}\n').start()
        self.assertIn('NOBODY WILL BE PAGED', daemon.program.output())
        self.assertEqual(self.metric(daemon, 'vagt_nobody_paged'), 1)
        self.assertIn('Nobody will be paged', get(daemon.url + '/'))
        check = subprocess.run([os.path.join(BIN, 'vagtctl'), 'check', 'config', os.path.join(daemon.folder, 'prometheus.yml')],
                               capture_output=True, text=True, timeout=30)
        self.assertIn('nobody will be paged', (check.stdout + check.stderr).lower())
        self.assertEqual(check.returncode, 0)

    def test_a_second_vagtd_on_the_same_data_is_refused(self):
        first = self.vagtd('global: {}\n').start()
        second = self.vagtd('global: {}\n')
        second.flags = [f if not f.startswith('--storage') else '--storage.tsdb.path=' + os.path.join(first.folder, 'data')
                        for f in second.flags]
        second.start(ready=False)
        second.program.process.wait(10)
        self.assertEqual(second.program.process.returncode, 1)
        self.assertIn(os.path.join(first.folder, 'data'), second.program.output())


if __name__ == '__main__':
    unittest.main(verbosity=2)
