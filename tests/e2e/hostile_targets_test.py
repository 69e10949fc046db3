"""Targets that lie, flood, stall and explode, one beside another: each is down with its reason or within a stated limit, and none
harms the healthy one, the memory or the queries.

Limits in force, all defaults: 64 MiB a page after inflating (body_size_limit), 256 MiB of pages under way (--scrape.max-bodies-bytes),
500,000 samples a page (sample_limit), 32,768 labels a series (label_limit), 10 redirects, 300 KiB of headers, 10 minutes ahead.
"""
import os
import sys
import threading
import time
import unittest

from harness import PATIENCE, ROOT, EndToEnd, Exporter, get_json, wait_until

sys.path.insert(0, os.path.join(ROOT, 'tests', 'support'))
from hostile_server import Apart, Hostile  # noqa: E402

MIB = 1 << 20
# What is said of each: (behaviour, what the error contains). All of these are down.
DOWN = [
    ('endless', 'body size limit exceeded (67108864 bytes)'), ('line100mb', 'body size limit exceeded'),
    ('gzipbomb', 'body size limit exceeded'), ('deflatebomb', 'body size limit exceeded'), ('zstdbomb', 'body size limit exceeded'),
    ('gzipingzip', 'unknown content encoding'), ('drip', 'deadline exceeded'), ('dripheader', 'deadline exceeded'),
    ('silent', 'deadline exceeded'), ('chunkextension', 'deadline exceeded'), ('headerflood', 'headers'), ('interims', 'headers'),
    ('longheader', 'header line'), ('lying', 'unexpected EOF'), ('hugelength', ''), ('cut', 'unexpected EOF'), ('halfpage', 'line 2'),
    ('reset', 'reset by peer'), ('chunkgarbage', 'chunked'), ('chunkhuge', 'chunked'), ('xchunked', 'unsupported transfer encoding'), ('http09', 'HTTP/0.9'),
    ('badstatus', ''), ('brokengzip', 'compressed body is damaged'), ('cutgzip', 'cut short'), ('loop', 'stopped after 10 redirects'),
    ('tofile', 'http or https'), ('longredirect', '404'), ('binary', 'line 1'), ('nul', 'line 1'), ('utf8', 'invalid UTF-8'),
    ('html', 'Content-Type'), ('longline', 'line 1'), ('hugecomment', 'line 2'), ('manylabels', 'label_limit exceeded'),
    ('millions', 'sample limit exceeded (3000000 samples, sample_limit 500000)'), ('oddtimes', 'line 1'), ('overflowtime', 'line 1'),
    ('openmetricscut', '# EOF'),
]
# These are up; what they exaggerate is told or bounded.
STALLING = ['drip', 'dripheader', 'silent', 'chunkextension']  # until their timeout
UP = ['longvalue', 'churn', 'oddvalues', 'futuretimes', 'duplicates', 'elsewhere', 'overflowlength']


def status_kib(pid, key):
    with open('/proc/%d/status' % pid) as f:
        return next(int(line.split()[1]) for line in f if line.startswith(key + ':'))


def is_sanitized(pid):
    with open('/proc/%d/maps' % pid) as f:
        return any(name in f.read() for name in ('libasan', 'libtsan', 'libubsan'))


class HostileTargets(EndToEnd):
    def start(self, hostile, behaviours):
        good = self.enter(Exporter(lambda: 'good %d\n' % good.scrapes))
        jobs = ''
        for name in behaviours:
            jobs += '  - job_name: %s\n    metrics_path: /%s\n    static_configs: [{targets: ["%s"]}]\n' % (name, name, hostile.address)
            if name in STALLING:
                jobs += '    scrape_timeout: 2s\n'
            if name == 'elsewhere':
                jobs += '    basic_auth: {username: someone, password: secret}\n'
        config = ('global: {scrape_interval: 10s, scrape_timeout: 10s}\nscrape_configs:\n  - job_name: good\n'
                  '    scrape_interval: 1s\n    scrape_timeout: 1s\n    static_configs: [{targets: ["%s"]}]\n' % good.address)
        return self.vagtd(config + jobs).start()

    def targets(self, daemon):
        active = get_json(daemon.url + '/api/v1/targets')['data']['activeTargets']
        return {t['labels']['job']: t for t in active}

    def test_none_harms_the_others(self):
        elsewhere = self.enter(Hostile())
        hostile = self.enter(Apart(elsewhere.address))
        daemon = self.start(hostile, [name for name, _ in DOWN] + UP)
        pid = daemon.program.process.pid
        rest = status_kib(pid, 'VmRSS')
        slowest = [0.0]
        done = threading.Event()

        def ask():
            while not done.wait(0.1):
                began = time.monotonic()
                daemon.query('up')
                slowest[0] = max(slowest[0], time.monotonic() - began)

        asking = threading.Thread(target=ask)
        asking.start()
        try:
            wait_until('every target was tried', lambda: all(t['health'] != 'unknown' for t in self.targets(daemon).values()), 25)
        finally:
            done.set()
            asking.join()
        targets = self.targets(daemon)
        grown = status_kib(pid, 'VmHWM') - rest
        print({'memory over rest, MiB': grown // 1024, 'slowest query of up, s': round(slowest[0], 3)})
        for name, reason in DOWN:
            with self.subTest(name):
                self.assertEqual(targets[name]['health'], 'down')
                self.assertIn(reason, targets[name]['lastError'])
                self.assertNotEqual(targets[name]['lastError'], '')
                self.assertLess(len(targets[name]['lastError']), 700)
        for name in UP:
            with self.subTest(name):
                self.assertEqual((targets[name]['health'], targets[name]['lastError']), ('up', ''))
        self.assertEqual(targets['good']['health'], 'up')
        samples = daemon.query('good{job="good"}[1m]')[0]['values']
        gaps = [b[0] - a[0] for a, b in zip(samples, samples[1:])]
        self.assertGreaterEqual(len(samples), 3)
        self.assertLess(max(gaps), 1.5 * PATIENCE, gaps)  # none is missed
        self.assertEqual(daemon.query('min_over_time(up{job="good"}[1m])')[0]['value'][1], '1')
        self.assertLess(slowest[0], 1 * PATIENCE)
        if not is_sanitized(pid):
            self.assertLess(grown, 300 * 1024)
        # A redirect to another host goes without the credentials.
        self.assertIn('authorization: basic', hostile.asked('/elsewhere')[0].lower())
        self.assertNotIn('authorization', elsewhere.asked('/good')[0].lower())
        # What is not a number of today is not taken for one.
        self.assertEqual(daemon.query('{__name__=~"first_time|decade"}'), [])
        self.assertEqual(float(daemon.value('plain_time')), 1)
        self.assertEqual({r['metric']['k']: r['value'][1] for r in daemon.query('odd')},
                         {'nan': 'NaN', 'inf': '+Inf', 'minus': '-Inf', 'small': '5e-324', 'plain': '1'})
        self.assertEqual({r['metric']['a']: r['value'][1] for r in daemon.query('twice')}, {'b': '1', 'c': '1'})
        began = time.monotonic()
        daemon.stop()
        self.assertLess(time.monotonic() - began, 5 * PATIENCE)

    def test_new_names_at_each_scrape_end_at_the_budget(self):
        hostile = self.enter(Hostile())
        config = ('global: {scrape_interval: 500ms, scrape_timeout: 500ms}\nscrape_configs:\n  - job_name: good\n    metrics_path: /good\n'
                  '    static_configs: [{targets: ["%s"]}]\n  - job_name: churn\n    metrics_path: /churn\n'
                  '    static_configs: [{targets: ["%s"]}]\n' % (hostile.address, hostile.address))
        daemon = self.vagtd(config, flags=['--storage.max-series=50000']).start()
        wait_until('the budget is spent', lambda: 'refused' in str(self.targets(daemon)['churn'].get('warnings', '')), 15)
        wait_until('the healthy target goes on', lambda: (daemon.value('count_over_time(good[5s])') or 0) > 3)
        self.assertEqual(self.targets(daemon)['good']['health'], 'up')


if __name__ == '__main__':
    unittest.main(verbosity=2)
