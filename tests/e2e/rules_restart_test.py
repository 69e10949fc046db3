"""kill -9 of vagtd while an alert waits, is kept firing, has just resolved, and followed by a long outage: afterwards the clocks
and the messages are those of a server that ran on, or for outages those that Prometheus documents. Minutes are seconds here.
(While it fires, and while a page is under way: kill9_test.py and notify_kill_test.py.)"""
import datetime
import json
import re
import time
import unittest

from harness import PATIENCE, Capture, EndToEnd, Exporter, get, get_json, wait_until

INTERVAL = 0.5
FOR = 6
KEEP = 8
LOOKBACK = 2
OUTAGE = 5  # longer than the lookback: what was before it is no longer seen
RULES = '''
groups:
  - name: gpu
    interval: 500ms
    rules:
      - {alert: Waiting, expr: temperature > 87, for: %ds}
      - {alert: Sticky, expr: temperature > 87, keep_firing_for: %ds}
      - {alert: Plain, expr: temperature > 87}
''' % (FOR, KEEP)
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


def seconds(timestamp):
    text = re.sub(r'\.(\d{1,6})\d*', lambda m: '.' + m.group(1).ljust(6, '0'), timestamp.replace('Z', '+00:00'))
    return datetime.datetime.fromisoformat(text).timestamp()


class RulesRestart(EndToEnd):
    def setUp(self):
        super().setUp()
        self.page = 'temperature{gpu="3"} 60\n'
        self.exporter = self.enter(Exporter(lambda: self.page))
        self.hook = self.enter(Capture())

    def begin(self, *flags):
        self.daemon = self.vagtd(PROMETHEUS.format(exporter=self.exporter.address), ALERTMANAGER.format(hook=self.hook.address),
                                 flags=['--rules.alert.for-grace-period=1s', *flags])
        self.daemon.write('rules.yml', RULES)
        self.daemon.start()
        wait_until('a scrape', lambda: self.daemon.value('temperature') == 60)

    def degrees(self, value):
        self.page = 'temperature{gpu="3"} %d\n' % value

    def alert(self, name):
        groups = get_json(self.daemon.url + '/api/v1/rules')['data']['groups']
        alerts = [r for g in groups for r in g['rules'] if r['name'] == name][0]['alerts']
        return alerts[0] if alerts else None

    def told(self, name, status, accepted=True):
        """The alerts of this name in the messages with this status, in order of arrival."""
        messages = [json.loads(r['body']) for r in self.hook.seen('/hook', accepted)]
        return [a for m in messages if m['status'] == status for a in m['alerts'] if a['labels']['alertname'] == name]

    def wait_recorded(self, messages):
        """Until so many deliveries are on disk: a kill just before that may repeat the page, and says so in it."""
        counted = re.compile(r'^vagt_notify_recorded_total (\d+)$', re.M)

        def recorded():
            found = counted.search(get(self.daemon.url + '/metrics'))
            return found and int(found.group(1)) >= messages

        wait_until('%d deliveries on record' % messages, recorded)

    def restart(self, outage=0.0):
        """Returns when it was killed and when it answered again."""
        killed = time.time()
        self.daemon.kill9()
        time.sleep(outage)
        self.daemon.start()
        return killed, time.time()

    def assert_due(self, moment, due, ready):
        """At the first evaluation after `due`, or when the server was down then, after it was `ready`. Both in server time."""
        self.assertGreaterEqual(moment, due - 0.001)
        # A busy machine may miss slots; that it waits anew, for seconds, is what must not be.
        self.assertLess(moment, max(due, ready) + 2 * INTERVAL * PATIENCE)

    def test_waiting(self):
        self.begin()
        self.degrees(91)
        before = wait_until('pending', lambda: self.alert('Waiting'))
        time.sleep(2)
        _, ready = self.restart()
        after = wait_until('pending again', lambda: self.alert('Waiting'))
        self.assertEqual(after['activeAt'], before['activeAt'])
        page = wait_until('paged', lambda: self.told('Waiting', 'firing'))[0]
        self.assert_due(seconds(page['startsAt']), seconds(before['activeAt']) + FOR, ready)
        self.assertLess(self.hook.seen('/hook')[-1]['at'], max(seconds(page['startsAt']), ready) + 3 * PATIENCE)

    def test_kept_firing(self):
        self.begin()
        self.degrees(91)
        page = wait_until('paged', lambda: self.told('Sticky', 'firing'))[0]
        self.wait_recorded(2)
        self.degrees(60)
        before = wait_until('kept', lambda: (self.alert('Sticky') or {}).get('keepFiringSince') and self.alert('Sticky'))
        time.sleep(2)
        _, ready = self.restart()
        after = wait_until('there again', lambda: self.alert('Sticky'))
        self.assertEqual([after[k] for k in ('state', 'activeAt', 'keepFiringSince')],
                         ['firing', before['activeAt'], before['keepFiringSince']])
        over = wait_until('resolved', lambda: self.told('Sticky', 'resolved'))[0]
        self.assert_due(seconds(over['endsAt']), seconds(before['keepFiringSince']) + KEEP, ready)
        self.assertEqual(over['startsAt'], page['startsAt'])
        self.assertEqual((len(self.told('Sticky', 'firing')), len(self.told('Sticky', 'resolved'))), (1, 1))

    def test_just_resolved_and_not_told(self):
        self.begin()
        self.degrees(91)
        wait_until('paged', lambda: self.told('Plain', 'firing'))
        self.wait_recorded(2)
        self.hook.reply = lambda path, body: (503, 'down')
        self.degrees(60)
        tried = wait_until('a first attempt', lambda: self.told('Plain', 'resolved', accepted=False))[0]
        self.daemon.kill9()
        self.hook.reply = lambda path, body: (200, 'ok')
        self.daemon.start()
        over = wait_until('resolved', lambda: self.told('Plain', 'resolved'))[0]
        self.assertEqual([over[k] for k in ('startsAt', 'endsAt')], [tried[k] for k in ('startsAt', 'endsAt')])
        time.sleep(1)
        self.assertEqual((len(self.told('Plain', 'firing')), len(self.told('Plain', 'resolved'))), (1, 1))

    def test_killed_as_it_resolves(self):
        self.begin()
        self.degrees(91)
        wait_until('paged', lambda: self.told('Plain', 'firing'))
        self.wait_recorded(2)
        self.degrees(60)
        wait_until('over', lambda: self.alert('Plain') is None)
        self.restart()
        wait_until('resolved', lambda: self.told('Plain', 'resolved'))
        time.sleep(1)
        firing, over = self.told('Plain', 'firing'), self.told('Plain', 'resolved')
        # Killed between the receiver's answer and the record, it may say so again; the alert is the same then.
        self.assertEqual((len(firing), len({a['endsAt'] for a in over})), (1, 1))
        self.assertLessEqual(len(over), 2)

    def test_long_outage_while_waiting(self):
        self.begin('--query.lookback-delta=%ds' % LOOKBACK)
        self.degrees(91)
        before = wait_until('pending', lambda: self.alert('Waiting'))
        time.sleep(1)
        killed, ready = self.restart(OUTAGE)
        after = wait_until('pending again', lambda: self.alert('Waiting'))
        # As Prometheus: the time of the outage does not count as waiting.
        shift = seconds(after['activeAt']) - seconds(before['activeAt'])
        self.assertGreaterEqual(shift, OUTAGE - 0.001)
        self.assertLess(shift, ready - killed + 2 * INTERVAL)
        page = wait_until('paged', lambda: self.told('Waiting', 'firing'))[0]
        self.assert_due(seconds(page['startsAt']), seconds(after['activeAt']) + FOR, ready)

    def test_long_outage_while_it_fires(self):
        self.begin('--query.lookback-delta=%ds' % LOOKBACK)
        self.degrees(91)
        wait_until('paged', lambda: self.told('Plain', 'firing') and self.told('Waiting', 'firing'))
        before = self.alert('Plain')
        self.wait_recorded(3)
        # The first two scrapes after it find nothing yet: what is missing then has not healed.
        still_empty = self.exporter.scrapes + 2
        self.exporter.page = lambda: '' if self.exporter.scrapes <= still_empty else self.page
        self.restart(OUTAGE)
        wait_until('scraped again', lambda: self.daemon.value('temperature') == 91)
        time.sleep(4 * INTERVAL)
        self.assertEqual(self.alert('Plain')['activeAt'], before['activeAt'])
        self.assertEqual([len(self.told(n, s)) for n in ('Plain', 'Waiting') for s in ('firing', 'resolved')], [1, 0, 1, 0])

    def test_long_outage_in_which_it_healed(self):
        self.begin('--query.lookback-delta=%ds' % LOOKBACK)
        self.degrees(91)
        wait_until('paged', lambda: self.told('Plain', 'firing'))
        self.wait_recorded(2)
        self.degrees(60)
        self.restart(OUTAGE)
        wait_until('resolved', lambda: self.told('Plain', 'resolved'))
        time.sleep(1)
        self.assertEqual((len(self.told('Plain', 'firing')), len(self.told('Plain', 'resolved'))), (1, 1))

    def test_an_outage_beyond_the_tolerance(self):
        self.begin('--query.lookback-delta=%ds' % LOOKBACK, '--rules.alert.for-outage-tolerance=3s')
        self.degrees(91)
        wait_until('paged', lambda: self.told('Plain', 'firing'))
        waiting = wait_until('pending', lambda: self.alert('Waiting'))
        self.wait_recorded(2)
        killed, ready = self.restart(OUTAGE)
        after = wait_until('pending anew', lambda: self.alert('Waiting'))
        self.assertGreater(seconds(after['activeAt']), killed + OUTAGE)
        self.assertGreater(seconds(after['activeAt']), seconds(waiting['activeAt']) + OUTAGE)
        page = wait_until('paged', lambda: self.told('Waiting', 'firing'))[0]
        self.assert_due(seconds(page['startsAt']), seconds(after['activeAt']) + FOR, ready)
        # The rule has forgotten; who was told has not, and is not told the same again.
        self.assertEqual(len(self.told('Plain', 'firing')), 1)
        self.degrees(60)
        wait_until('resolved', lambda: self.told('Plain', 'resolved'))


if __name__ == '__main__':
    unittest.main(verbosity=2)
