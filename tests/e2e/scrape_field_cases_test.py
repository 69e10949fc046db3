"""Cases of real life, over the wire: a failed scrape ends a target's series and restarts `for`, however it fails; histogram bounds
have one spelling; pages that are not quite right are read, or refused with a reason that helps."""
import os
import subprocess
import time
import unittest

from harness import BIN, EndToEnd, HttpService, QuietHandler, get_json, wait_until

RULES = '''
groups:
  - name: hot
    interval: 200ms
    rules:
      - {alert: GpuHot, expr: gpu_temp_celsius > 90, for: 2s}
      - {alert: GpuHotSticky, expr: gpu_temp_celsius > 90, for: 2s, keep_firing_for: 1h}
'''


class Gpu(HttpService):
    """A hot GPU whose exporter fails as `fault` says: 500, hang, hangup."""

    def __init__(self):
        gpu = self
        self.fault = None

        class Handler(QuietHandler):
            def do_GET(self):
                if gpu.fault == '500':
                    self.answer(500, 'no')
                elif gpu.fault == 'hang':
                    while gpu.fault == 'hang':
                        time.sleep(0.05)
                    self.close_connection = True
                elif gpu.fault == 'hangup':
                    self.close_connection = True
                else:
                    self.answer(200, 'gpu_temp_celsius{gpu="3"} 95\nother 1\n')

        super().__init__(Handler)


class Pages(HttpService):
    """PAGES by name: (content type or None, body)."""

    def __init__(self, pages):
        class Handler(QuietHandler):
            def do_GET(self):
                content_type, body = pages[self.path[1:]]
                self.send_response(200)
                if content_type:
                    self.send_header('Content-Type', content_type)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

        super().__init__(Handler)


TEXT = 'text/plain; version=0.0.4'
HISTOGRAM = '''# TYPE step_seconds histogram
step_seconds_bucket{le="1"} 4
step_seconds_bucket{le="2.5"} 6
step_seconds_bucket{le="+Inf"} 7
step_seconds_sum 9.5
step_seconds_count 7
plain_bucket{le="1"} 4
'''
# name: content type, body, health, what the error or a warning contains, samples that are there
ODD = {
    'twice': (TEXT, 'a 1\na 2\nb 3\n', 'up', '1 duplicate', {'a': '1', 'b': '3'}),
    'nan': (TEXT, 'busy -nan\nb 3\n', 'up', '-nan', {'busy': 'NaN', 'b': '3'}),
    'crlf': (TEXT, 'a 1\r\nb 3\r\n', 'up', 'CR LF', {'a': '1', 'b': '3'}),
    'endless_line': (TEXT, 'a 1\nb 3', 'up', '', {'a': '1', 'b': '3'}),
    'help': (TEXT, '# HELP a\na{} 1\n', 'up', '', {'a': '1'}),
    'quoted': (TEXT, '"a 1\\nb 3\\n"', 'down', 'JSON-quoted', {}),
    'untyped': (None, 'a 1\n', 'down', 'fallback_scrape_protocol', {}),
    'fallback': (None, 'a 1\n', 'up', '', {'a': '1'}),
    'comma': ('text/plain; version=0.0.4, charset=utf-8', 'a 1\n', 'up', '', {'a': '1'}),
    'word': (TEXT, 'a 1\nb one\nc 3\n', 'down', 'line 2', {}),
}


class ScrapeFieldCases(EndToEnd):
    def alerts(self, daemon):
        return {a['labels']['alertname']: a for a in get_json(daemon.url + '/api/v1/alerts')['data']['alerts']}

    def state(self, daemon, name):
        return self.alerts(daemon).get(name, {}).get('state', 'inactive')

    def test_a1_a_failed_scrape_ends_the_series_and_restarts_for(self):
        gpu = self.enter(Gpu())
        daemon = self.vagtd('global: {scrape_interval: 300ms, scrape_timeout: 300ms, evaluation_interval: 200ms}\nrule_files: [r.yml]\n'
                            'scrape_configs: [{job_name: gpu, static_configs: [{targets: ["%s"]}]}]\n' % gpu.address)
        daemon.write('r.yml', RULES)
        daemon.start()
        wait_until('it fires', lambda: self.state(daemon, 'GpuHot') == 'firing')
        before = self.alerts(daemon)['GpuHot']['activeAt']
        for fault, says in (('500', '500'), ('hang', 'deadline exceeded'), ('hangup', ''), ('refused', 'refused')):
            with self.subTest(fault):
                if fault == 'refused':
                    gpu.server.shutdown()
                    gpu.server.server_close()
                gpu.fault = 'hangup' if fault == 'refused' else fault  # that ends the connection kept alive, too
                wait_until('up is 0', lambda: daemon.value('up') == 0)
                # At once, not after five minutes of looking back: every series of the target ended.
                wait_until('no series is left', lambda: not daemon.query('{job="gpu",__name__=~"gpu_temp_celsius|other"}'), 3)
                self.assertTrue(daemon.query('gpu_temp_celsius[1m]'))
                wait_until(says, lambda: says in get_json(daemon.url + '/api/v1/targets')['data']['activeTargets'][0]['lastError'])
                wait_until('the alert is over', lambda: self.state(daemon, 'GpuHot') == 'inactive', 5)
                self.assertEqual(self.state(daemon, 'GpuHotSticky'), 'firing')
                if fault == 'refused':
                    break
                gpu.fault = None
                wait_until('its clock starts anew', lambda: self.state(daemon, 'GpuHot') == 'pending', 5)
                after = self.alerts(daemon)['GpuHot']['activeAt']
                self.assertGreater(after, before)
                wait_until('it fires again', lambda: self.state(daemon, 'GpuHot') == 'firing')
                before = after

    def test_a3_one_spelling_of_histogram_bounds(self):
        pages = self.enter(Pages({'metrics': (TEXT, HISTOGRAM)}))
        daemon = self.vagtd('global: {scrape_interval: 300ms, scrape_timeout: 300ms}\n'
                            'scrape_configs: [{job_name: j, static_configs: [{targets: ["%s"]}]}]\n' % pages.address).start()
        wait_until('a scrape', lambda: daemon.value('up'))
        for selector, value in (('step_seconds_bucket{le="1"}', None), ('step_seconds_bucket{le="1.0"}', 4), ('step_seconds_bucket{le="2.5"}', 6),
                                ('step_seconds_bucket{le="+Inf"}', 7), ('plain_bucket{le="1"}', 4)):
            self.assertEqual(daemon.value(selector), value, selector)
        rules = daemon.write('le.yml', 'groups: [{name: g, rules: [{record: r, expr: \'step_seconds_bucket{le="1"}\'}]}]\n')
        done = subprocess.run([os.path.join(BIN, 'vagtctl'), 'lint', 'rules', rules], capture_output=True, text=True)
        self.assertIn('bound-without-point', done.stdout + done.stderr)

    def test_a11_pages_that_are_not_quite_right(self):
        pages = self.enter(Pages({name: case[:2] for name, case in ODD.items()}))
        jobs = ''.join('  - job_name: %s\n    metrics_path: /%s\n    static_configs: [{targets: ["%s"]}]\n%s'
                       % (name, name, pages.address, '    fallback_scrape_protocol: PrometheusText0.0.4\n' if name in ('fallback', 'comma') else '')
                       for name in ODD)
        daemon = self.vagtd('global: {scrape_interval: 400ms, scrape_timeout: 400ms}\nscrape_configs:\n' + jobs).start()

        def targets():
            return {t['scrapePool']: t for t in get_json(daemon.url + '/api/v1/targets')['data']['activeTargets']}

        wait_until('all were tried', lambda: all(t['health'] != 'unknown' for t in targets().values()))
        for name, (_, _, health, says, samples) in ODD.items():
            with self.subTest(name):
                target = targets()[name]
                self.assertEqual(target['health'], health, target)
                self.assertIn(says, target['lastError'] + str(target.get('warnings', '')))
                self.assertEqual(target['lastError'] == '', health == 'up')
                got = {r['metric']['__name__']: r['value'][1] for r in daemon.query('{job="%s",__name__=~"a|b|c|busy"}' % name)}
                self.assertEqual(got, samples)


if __name__ == '__main__':
    unittest.main(verbosity=2)
