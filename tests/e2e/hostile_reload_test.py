"""Reloads in a row while it scrapes and pages; files that vanish, change and lie; a rule that takes seconds. And few descriptors."""
import os
import socket
import threading
import time
import unittest
import urllib.error

from harness import BIN, PATIENCE, Capture, EndToEnd, Exporter, Program, get, wait_until

ALERTMANAGER = '''
route: {receiver: hook, group_by: [alertname], group_wait: 100ms, group_interval: 300ms, repeat_interval: 1h}
receivers:
  - name: hook
    webhook_configs: [{url: "http://%s/hook"}]
'''
PROMETHEUS = '''
global: {scrape_interval: 200ms, scrape_timeout: 200ms, evaluation_interval: 200ms}
rule_files: [r*.yml]
scrape_configs:
  - job_name: x
    static_configs: [{targets: ["%s"]}]
'''
# Takes seconds a time.
SLOW = '''
groups:
  - {name: slow, rules: [{record: slow, expr: "quantile_over_time(0.5, quantile_over_time(0.5, vector(time())[2h:1s])[300h:1s])"}]}
'''
RULES = '''
groups:
  - {name: hot, rules: [{alert: Hot%d, expr: "a == 1"}]}
'''


class HostileReload(EndToEnd):
    def setUp(self):
        super().setUp()
        self.exporter = self.enter(Exporter(lambda: 'a 1\n'))
        self.hook = self.enter(Capture())
        self.good = PROMETHEUS % self.exporter.address
        self.daemon = self.vagtd(self.good, ALERTMANAGER % self.hook.address, flags=['--web.enable-lifecycle'])
        self.daemon.write('r-slow.yml', SLOW)

    def reload(self):
        try:
            get(self.daemon.url + '/-/reload', method='POST', data=b'')
            return True
        except urllib.error.HTTPError as refused:
            self.assertEqual(refused.code, 500)
            return False

    def paged(self, number):
        return any('Hot%d"' % number in r['body'] for r in self.hook.seen())

    def test_two_hundred_reloads_in_a_row(self):
        daemon, folder = self.daemon, self.daemon.folder
        daemon.write('r.yml', RULES % 0)
        daemon.start()
        wait_until('the first page', lambda: self.paged(0))
        slowest, done = {}, threading.Event()

        def probe(path):
            while not done.wait(0.2):
                began = time.monotonic()
                get(daemon.url + path)
                slowest[path] = max(slowest.get(path, 0), time.monotonic() - began)

        probes = [threading.Thread(target=probe, args=(path,))
                  for path in ('/-/healthy', '/api/v2/alerts', '/api/v1/rules', '/metrics', '/api/v1/query?query=up')]
        for thread in probes:
            thread.start()
        refused = 0
        began = time.monotonic()
        config = os.path.join(folder, 'prometheus.yml')
        for i in range(200):
            if i % 10 == 1:
                daemon.write('r.yml', RULES % (i + 1))
            if i % 20 == 5:
                os.unlink(os.path.join(folder, 'r.yml'))  # its group ends; a later round brings it back
            if i % 20 == 7:
                daemon.write('prometheus.yml', 'x: [\n')
            if i % 20 == 8:
                os.unlink(config)
            if i % 20 == 9:
                os.symlink('nowhere', config)
            if i % 20 == 10:
                os.unlink(config)
                os.symlink(daemon.write('other.yml', self.good), config)
            if i % 20 == 11:
                os.unlink(config)
                daemon.write('prometheus.yml', self.good)
            refused += not self.reload()
        took = time.monotonic() - began
        done.set()
        for thread in probes:
            thread.join()
        self.assertEqual(refused, 30)  # each tenth with three faulty states
        self.assertLess(took, 60 * PATIENCE)
        for path, seconds in slowest.items():
            self.assertLess(seconds, 1 * PATIENCE, path)
        daemon.write('r.yml', RULES % 1000)
        self.assertTrue(self.reload())
        wait_until('a page by the last rules', lambda: self.paged(1000), 10)
        self.assertLess(time.time() - daemon.query('a')[0]['value'][0], 2 * PATIENCE)
        page = get(daemon.url + '/metrics')
        self.assertEqual(page.count('prometheus_rule_group_rules{'), 2)

    def test_a_slow_rule_holds_up_neither_the_reload_nor_the_others(self):
        daemon = self.daemon
        daemon.write('r.yml', RULES % 0)
        daemon.start()
        wait_until('the slow rule is at work', lambda: self.paged(0))
        for i in range(1, 4):
            daemon.write('r.yml', RULES % i)
            began = time.monotonic()
            self.assertTrue(self.reload())
            self.assertLess(time.monotonic() - began, 1 * PATIENCE)
            wait_until('a page by the new rules', lambda: self.paged(i), 5)

    def test_idle_connections_leave_descriptors_for_paging(self):
        daemon = self.daemon
        daemon.write('r.yml', RULES % 0)
        self.exporter.page = lambda: 'a 0\n'
        daemon.program = Program(['/bin/sh', '-c', 'ulimit -n 64; exec "$@"', 'x', os.path.join(BIN, 'vagtd'), *daemon.flags],
                                 os.path.join(daemon.folder, 'vagtd.log'))
        wait_until('vagtd ready', daemon.ready)
        self.assertIn('limit of file descriptors is low', daemon.program.output())
        wait_until('a sample', lambda: daemon.value('a') == 0)
        idle = [socket.create_connection(('127.0.0.1', daemon.port)) for _ in range(60)]
        try:
            self.exporter.page = lambda: 'a 1\n'
            wait_until('a page', lambda: self.paged(0), 10)
        finally:
            for connection in idle:
                connection.close()


if __name__ == '__main__':
    unittest.main(verbosity=2)
