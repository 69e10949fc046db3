"""A thousand targets are scraped while everything around them is reloaded, ten times: no scrape of a target that stays is missed, late or
read afresh, an alert's `for` clock runs on, rule groups miss no turn, and an alert that fires is delivered once. Prints its figures.
"""
import contextlib
import re
import selectors
import socket
import threading
import time
import unittest
import urllib.error

from harness import PATIENCE, Capture, EndToEnd, get, get_json, wait_until

INTERVAL = 4  # seconds
RELOADS = 10
SAME, RELABELLED, LISTED, FOUND = 700, 100, 100, 100

ALERTMANAGER = '''
route: {receiver: hook, group_by: [alertname], group_wait: 100ms, group_interval: 300ms, repeat_interval: 1h}
receivers:
  - name: hook
    webhook_configs: [{url: "http://%s/hook"}]
'''
RULES = '''
groups:
  - name: stays
    interval: 1s
    rules:
      - {alert: Held, expr: "page_number{instance='same0'} > -1", for: 20s}
      - {alert: AtOnce, expr: "page_number{instance='same1'} > -1"}
      - {record: pages, expr: "count(page_number)"}
'''
OTHER_RULES = '''
groups:
  - {name: changes, interval: 1s, rules: [{record: round, expr: "vector(%d)"}]}
'''


class Pages:
    """Ten series for each path. One thread and no more than is needed, so that it is never what is waited for."""

    def __init__(self):
        self.listener = socket.create_server(('127.0.0.1', 0), backlog=1024)
        self.address = '127.0.0.1:%d' % self.listener.getsockname()[1]
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.serve)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exc):
        self.ended.set()
        self.thread.join()
        self.listener.close()

    def serve(self):
        rest = ''.join('value{n="%d"} %d\n' % (i, i) for i in range(9))
        with selectors.DefaultSelector() as ready:
            ready.register(self.listener, selectors.EVENT_READ)
            while not self.ended.is_set():
                for key, _ in ready.select(0.1):
                    if key.fileobj is self.listener:
                        ready.register(self.listener.accept()[0], selectors.EVENT_READ)
                        continue
                    with contextlib.suppress(OSError):
                        request = key.fileobj.recv(65536)
                        if request:
                            page = 'page_number %s\n' % request.split(b' ', 2)[1].rsplit(b'/', 1)[1].decode() + rest
                            key.fileobj.sendall(('HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: %d\r\n\r\n%s'
                                                 % (len(page), page)).encode())
                            continue
                    ready.unregister(key.fileobj)
                    key.fileobj.close()
            for key in list(ready.get_map().values()):
                if key.fileobj is not self.listener:
                    key.fileobj.close()


def groups(job, count, address):
    return ''.join('      - {targets: ["%s"], labels: {__metrics_path__: /%s/%d, instance: %s%d}}\n' % (address, job, i, job, i)
                   for i in range(count))


class Reload(EndToEnd):
    def config(self, turn):
        """Jobs `same`, `listed` and `found` stay; `relabelled` gets another rule, `new` appears, vanishes and moves."""
        address = self.pages.address
        text = 'global: {scrape_interval: %ds, scrape_timeout: %ds, evaluation_interval: 1s}\n' % (INTERVAL, INTERVAL)
        text += 'rule_files: [stays.yml, changes.yml]\nscrape_configs:\n'
        text += '  - job_name: same\n    static_configs:\n' + groups('same', SAME, address)
        text += '  - job_name: relabelled\n    metric_relabel_configs: [{target_label: turn, replacement: "%d"}]\n' % turn
        text += '    static_configs:\n' + groups('relabelled', RELABELLED, address)
        text += '  - job_name: listed\n    file_sd_configs: [{files: [listed.yml]}]\n'
        if turn % 3 != 2:
            text += '  - job_name: new\n    scrape_interval: %ds\n    scrape_timeout: 1s\n    static_configs:\n' % (1 + turn % 2)
            text += groups('new', FOUND, address)
        return text

    def reload(self, daemon, turn):
        daemon.write('prometheus.yml', self.config(turn))
        daemon.write('changes.yml', OTHER_RULES % turn)
        began = time.monotonic()
        get(daemon.url + '/-/reload', method='POST', data=b'')
        return time.monotonic() - began

    def refused(self, daemon):
        daemon.write('prometheus.yml', self.config(0) + 'scrape_config: []\n')
        with self.assertRaises(urllib.error.HTTPError) as refused:
            get(daemon.url + '/-/reload', method='POST', data=b'')
        self.assertIn('scrape_configs', refused.exception.read().decode())  # the nearest key

    def alert(self, daemon, name):
        alerts = get_json(daemon.url + '/api/v1/alerts')['data']['alerts']
        return next((a for a in alerts if a['labels']['alertname'] == name), None)

    def series_of(self, daemon, expr):
        return {r['metric']['instance']: [float(v[0]) for v in r['values']] for r in daemon.query(expr)}

    def counters(self, daemon, name):
        found = re.findall(r'^%s(?:\{.*\})? (\S+)$' % name, get(daemon.url + '/metrics'), re.M)
        self.assertTrue(found, name)
        return [float(value) for value in found]

    def lowest(self, daemon, window):
        return {r['metric']['instance']: float(r['value'][1]) for r in daemon.query('min_over_time(up{job=~"same|relabelled|listed"}%s)' % window)}

    def test_a_thousand_targets_miss_nothing(self):
        self.pages, hook = self.enter(Pages()), self.enter(Capture())
        daemon = self.vagtd(self.config(0), ALERTMANAGER % hook.address, flags=['--web.enable-lifecycle'])
        daemon.write('stays.yml', RULES)
        daemon.write('changes.yml', OTHER_RULES % 0)
        daemon.write('listed.yml', groups('listed', LISTED, self.pages.address).replace('      - {', '- {'))
        daemon.start()
        stays = SAME + RELABELLED + LISTED
        wait_until('all are up', lambda: daemon.value('sum(up{job=~"same|relabelled|listed"})') == stays, 3 * INTERVAL)
        wait_until('the clock of an alert runs', lambda: self.alert(daemon, 'Held'))
        active_at = self.alert(daemon, 'Held')['activeAt']
        slowest, done = [0.0], threading.Event()

        def ask():
            while not done.wait(0.05):
                began = time.monotonic()
                daemon.query('up{instance="same0"}')
                slowest[0] = max(slowest[0], time.monotonic() - began)

        asking = threading.Thread(target=ask)
        asking.start()
        began = time.time()
        took = []
        try:
            for turn in range(1, RELOADS + 1):
                took.append(self.reload(daemon, turn))
                held = self.alert(daemon, 'Held')
                self.assertEqual(held['activeAt'], active_at)
                if turn == 5:
                    self.refused(daemon)
                done.wait(INTERVAL / 2.5)  # at another place of the interval each time
            held = wait_until('the alert fires', lambda: (self.alert(daemon, 'Held') or {}).get('state') == 'firing', 30)
            span = time.time() - began
            done.wait(INTERVAL)
        finally:
            done.set()
            asking.join()
        window = '[%ds]' % (span + INTERVAL)
        gaps, lates, counts = [], [], []
        for times in self.series_of(daemon, 'up{job=~"same|relabelled|listed"}' + window).values():
            gaps += [b - a for a, b in zip(times, times[1:])]
            lates += [abs((b - a + INTERVAL / 2) % INTERVAL - INTERVAL / 2) for a, b in zip(times, times[1:])]
            counts.append(len(times))
        lates.sort()
        figures = {'targets that stay': len(counts), 'scrapes of them': sum(counts), 'missed': sum(g > 1.5 * INTERVAL for g in gaps),
                   'longest gap s': round(max(gaps), 3), 'off phase at p99 ms': round(1e3 * lates[int(len(lates) * .99)], 1),
                   'reload s, mean and most': (round(sum(took) / len(took), 3), round(max(took), 3)),
                   'slowest query s': round(slowest[0], 3), 'skipped': sum(self.counters(daemon, 'vagt_scrape_skipped_total')),
                   'turns of rules missed': sum(self.counters(daemon, 'prometheus_rule_group_iterations_missed_total')),
                   'failed': sorted(i for i, v in self.lowest(daemon, window).items() if v == 0)[:10]}
        print(figures)
        self.assertEqual(len(counts), stays)
        self.assertEqual(figures['missed'], 0)
        self.assertGreaterEqual(min(counts), int(span / INTERVAL))
        self.assertEqual(figures['failed'], [])
        # The cache of what stays was kept: no series was read as a new one.
        self.assertEqual(daemon.value('max(max_over_time(scrape_series_added{job=~"same|listed"}[%ds]))' % int(span)), 0)
        # What changed did change, and its former series ended.
        self.assertEqual(daemon.value('count(count by (turn) (page_number{job="relabelled"}))'), 1)
        self.assertEqual(daemon.query('page_number{job="relabelled"}')[0]['metric']['turn'], str(RELOADS))
        self.assertEqual(daemon.value('round'), RELOADS)
        # A machine that is busy elsewhere may cost a turn of a second; a reload may not.
        self.assertLessEqual(figures['turns of rules missed'], 4 * (PATIENCE - 1))
        self.assertLess(max(took), 1 * PATIENCE)
        self.assertLess(slowest[0], 1 * PATIENCE)
        # `for` was waited for once, and each alert was delivered once.
        self.assertEqual(self.alert(daemon, 'Held')['activeAt'], active_at)
        wait_until('both pages', lambda: len(hook.seen()) >= 2)
        for name in ('Held', 'AtOnce'):
            self.assertEqual(sum('"alertname":"%s"' % name in r['body'].replace(' ', '') and '"status":"firing"' in r['body']
                                 for r in hook.seen()), 1, name)
        page = get(daemon.url + '/metrics')
        self.assertRegex(page, r'prometheus_config_last_reload_successful 1\n')


if __name__ == '__main__':
    unittest.main(verbosity=2)
