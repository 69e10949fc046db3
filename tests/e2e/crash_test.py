"""kill -9 of vagtd at random moments, with scraping and imports under way: what was acknowledged or shown is there, nothing else is.

VAGT_CRASH_CYCLES says how often (10); VAGT_CRASH_SEED makes a run repeatable.
"""
import json
import os
import random
import subprocess
import threading
import time
import unittest
import urllib.error
import urllib.parse

from harness import BIN, EndToEnd, Exporter, get, wait_until

CYCLES = int(os.environ.get('VAGT_CRASH_CYCLES', '10'))
PROMETHEUS = '''
global: {{scrape_interval: 100ms, scrape_timeout: 100ms}}
scrape_configs:
  - job_name: counters
    static_configs: [{{targets: ["{exporter}"]}}]
'''
SERIES = 40


class Crash(EndToEnd):
    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get('VAGT_CRASH_SEED', time.time_ns() % 1_000_000))
        self.random = random.Random(self.seed)
        self.served = set()  # every number a page ever had
        self.count = 0
        self.exporter = self.enter(Exporter(self.page))
        self.daemon = self.vagtd(PROMETHEUS.format(exporter=self.exporter.address),
                                 flags=['--web.enable-admin-api'])
        self.sent, self.acknowledged = {}, {}  # (batch, series) → value; a batch is a millisecond
        self.shown = {}  # (instance of the counter, time) → value, as queries told it
        self.batch = 0
        self.imports_begin = int(time.time() * 1000) - 3_600_000
        self.going = False

    # One number a page, in all its series: half a scrape would show. A killed daemon hangs up in the middle.
    def page(self):
        self.count += 1
        self.served.add(self.count)
        return ''.join('served{i="%d"} %d\n' % (i, self.count) for i in range(SERIES))

    def import_some(self):
        while self.going:
            batch = self.batch
            self.batch += 1
            lines, keys = [], {}
            for i in range(200):
                value = self.random.randrange(1_000_000) / 64
                keys[(batch, i)] = value
                lines.append('imported{i="%d"} %r %d\n' % (i, value, self.imports_begin + batch))
            self.sent.update(keys)
            try:
                get(self.daemon.url + '/api/v1/import/prometheus', data=''.join(lines).encode())
            except (urllib.error.URLError, ConnectionError, OSError):
                return
            self.acknowledged.update(keys)
            time.sleep(0.01)

    def ask(self, expr):
        answer = get(self.daemon.url + '/api/v1/query?' + urllib.parse.urlencode({'query': expr}))
        return json.loads(answer)['data']['result']

    def look(self):
        while self.going:
            try:
                for series in self.ask('served[10s]'):
                    for t, v in series['values']:
                        self.shown[(series['metric']['i'], t)] = v
                if self.random.random() < 0.1:
                    get(self.daemon.url + '/api/v1/admin/tsdb/%s' % self.random.choice(['flush', 'snapshot']), data=b'')
            except (urllib.error.URLError, ConnectionError, OSError):
                return
            time.sleep(0.02)

    def live_and_die(self, seconds):
        self.going = True
        threads = [threading.Thread(target=f, daemon=True) for f in (self.import_some, self.look)]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        self.daemon.kill9()
        self.going = False
        for thread in threads:
            thread.join(20)

    def check(self):
        """Everything after a restart against everything known before it."""
        found = {}
        for series in self.ask('imported[2h]'):
            for t, v in series['values']:
                found[(round(t * 1000) - self.imports_begin, int(series['metric']['i']))] = float(v)
        lost = [k for k, v in self.acknowledged.items() if found.get(k) != v]
        self.assertEqual(lost[:5], [], '%d acknowledged samples lost' % len(lost))
        invented = [k for k, v in found.items() if self.sent.get(k) != v]
        self.assertEqual(invented[:5], [], '%d samples invented' % len(invented))
        pages, values = {}, {}
        for series in self.ask('served[1h]'):
            for t, v in series['values']:
                values[(series['metric']['i'], t)] = v
                pages.setdefault(t, []).append(v)
        lost = [k for k, v in self.shown.items() if values.get(k) != v]
        self.assertEqual(lost[:5], [], '%d samples that a query showed are lost' % len(lost))
        # A stale marker after a failed scrape is no value; what is one was served, and with its whole page.
        for t, of_page in pages.items():
            self.assertEqual(len(set(of_page)), 1, t)
            self.assertEqual(len(of_page), SERIES, t)
            self.assertIn(int(of_page[0]), self.served)

    def test_random_moments(self):
        print('%d cycles, VAGT_CRASH_SEED=%d' % (CYCLES, self.seed), flush=True)
        self.daemon.start()
        slowest = 0.0
        for _ in range(CYCLES):
            self.live_and_die(self.random.uniform(0.05, 1.2))
            began = time.monotonic()
            self.daemon.start()
            slowest = max(slowest, time.monotonic() - began)
            self.check()
        self.assertGreater(len(self.acknowledged), 0)
        self.assertGreater(len(self.shown), 0)
        print('%d imported, %d shown samples, slowest start %.2f s' % (len(self.acknowledged), len(self.shown), slowest), flush=True)

    def test_a_second_one_on_the_same_directory_is_refused(self):
        self.daemon.start()
        flags = [f for f in self.daemon.flags if not f.startswith('--web.listen-address')]
        second = subprocess.run([os.path.join(BIN, 'vagtd'), '--web.listen-address=127.0.0.1:0', *flags],
                                capture_output=True, text=True, timeout=30)
        self.assertNotEqual(second.returncode, 0)
        self.assertIn('in use by another process', second.stderr)
        wait_until('the first one still scrapes', lambda: self.ask('served'))


if __name__ == '__main__':
    unittest.main(verbosity=2)
