"""Pages as they went wrong in the field, against the programs themselves: inhibition by a label that is missing, repeats that
cannot come when asked, templates that fail, alerts posted over the API, time intervals that cross midnight; and a receiver that
fails for a while."""
import datetime
import json
import os
import subprocess
import time
import unittest
import urllib.error

from harness import BIN, PATIENCE, Capture, EndToEnd, get, get_json, wait_until


def stamp(seconds_from_now):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds_from_now)
    return moment.strftime('%Y-%m-%dT%H:%M:%S.%fZ')


class FieldCase(EndToEnd):
    def setUp(self):
        super().setUp()
        self.hook = self.enter(Capture())

    def begin(self, alertmanager_yml):
        self.daemon = self.vagtd(alertmanager_yml=alertmanager_yml.replace('HOOK', 'http://' + self.hook.address)).start()

    def post(self, *alerts):
        return get(self.daemon.url + '/api/v2/alerts', data=json.dumps(alerts).encode(), headers={'Content-Type': 'application/json'})

    def refused(self, *alerts):
        """The answer's text; the status has to be 400."""
        with self.assertRaises(urllib.error.HTTPError) as raised:
            self.post(*alerts)
        with raised.exception as answer:
            self.assertEqual(answer.code, 400)
            return answer.read().decode()

    def status_of(self, name):
        found = [a for a in get_json(self.daemon.url + '/api/v2/alerts') if a['labels']['alertname'] == name]
        return found[0]['status'] if found else None

    def told(self, name, status='firing'):
        messages = [(r['at'], json.loads(r['body'])) for r in self.hook.seen('/')]
        return [at for at, m in messages if m['status'] == status and any(a['labels']['alertname'] == name for a in m['alerts'])]

    def check_config(self, alertmanager_yml):
        """vagtctl's exit status and words for it."""
        folder = os.path.join(self.folder, 'check')
        os.makedirs(folder, exist_ok=True)
        for name, text in (('prometheus.yml', 'notify_file: alertmanager.yml\n'), ('alertmanager.yml', alertmanager_yml)):
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
                f.write(text.replace('HOOK', 'http://' + self.hook.address))
        done = subprocess.run([os.path.join(BIN, 'vagtctl'), 'check', 'config', os.path.join(folder, 'prometheus.yml')],
                              capture_output=True, text=True, timeout=30 * PATIENCE)
        return done.returncode, done.stdout + done.stderr


class Inhibition(FieldCase):
    CONFIG = '''
route: {receiver: hook, group_by: ['...'], group_wait: 1s, group_interval: 1s, repeat_interval: 1s}
receivers: [{name: hook, webhook_configs: [{url: HOOK/}]}]
inhibit_rules: [{source_matchers: [alertname="NodeDown"], target_matchers: [severity="warning"], equal: [EQUAL]}]
'''

    def test_a_missing_equal_label_equals_a_missing_one(self):
        self.begin(self.CONFIG.replace('EQUAL', 'node'))
        warning = {'severity': 'warning'}
        self.post({'labels': {'alertname': 'NodeDown'}}, {'labels': {'alertname': 'W1', **warning}},
                  {'labels': {'alertname': 'W0', 'node': '', **warning}}, {'labels': {'alertname': 'W2', 'node': 'n7', **warning}})
        wait_until('W2 and its repeat', lambda: len(self.told('W2')) >= 2)
        self.assertEqual((self.told('W1'), self.told('W0')), ([], []))
        self.assertEqual([self.status_of(n)['state'] for n in ('W0', 'W1', 'W2')], ['suppressed', 'suppressed', 'active'])
        self.post({'labels': {'alertname': 'NodeDown', 'node': 'n7'}})
        muted_at = time.time()
        wait_until('W2 muted', lambda: self.status_of('W2')['state'] == 'suppressed')
        repeats = len(self.told('NodeDown'))
        wait_until('more flushes', lambda: len(self.told('NodeDown')) >= repeats + 4)
        # What was under way when the source came may still have arrived.
        self.assertEqual([at for at in self.told('W2') if at > muted_at + 1 * PATIENCE], [])

    def test_check_config_says_so_and_the_daemon_does_not_for_ordinary_rules(self):
        said = 'a source without the label "node" mutes every target that lacks it too'
        self.assertIn(said, self.check_config(self.CONFIG.replace('EQUAL', 'node'))[1])
        self.assertNotIn('a source without', self.check_config(self.CONFIG.replace('EQUAL', 'alertname, node'))[1])
        self.begin(self.CONFIG.replace('EQUAL', 'node'))
        self.assertNotIn('a source without', self.daemon.program.output())


class Repeats(FieldCase):
    CONFIG = '''
route: {receiver: hook, group_wait: 1s, group_interval: 5s, repeat_interval: 7s}
receivers: [{name: hook, webhook_configs: [{url: HOOK/}]}]
'''

    def test_they_come_at_flushes_only(self):
        self.assertIn('repeats come every 10s', self.check_config(self.CONFIG)[1])
        self.begin(self.CONFIG)
        begin = time.time()
        self.post({'labels': {'alertname': 'A'}, 'endsAt': stamp(600)})
        time.sleep(24)
        at = [t - begin for t in self.told('A')]
        self.assertEqual(len(at), 3, at)
        for seen, due in zip(at, (1, 11, 21)):
            self.assertLess(abs(seen - due), 1 * PATIENCE, at)


class BrokenTemplates(FieldCase):
    CONFIG = '''
route: {receiver: chat, group_wait: 100ms, group_interval: 1h}
receivers: [{name: chat, slack_configs: [{api_url: HOOK/slack, channel: "#gpu", title: '%s', text: '%s'}]}]
'''
    MISSING = CONFIG % ('{{ template "no.such.name" . }}', '{{ .CommonLabels.alertname }}')
    FAILING = CONFIG % ('{{ .CommonLabels.alertname }}', '{{ (index .Alerts 9).Labels }}')

    def page(self, config, field):
        self.begin(config)
        self.post({'labels': {'alertname': 'GpuLost'}})
        wait_until('the page', lambda: self.hook.seen('/slack'), 5)
        message = self.hook.seen('/slack')[0]['body']
        self.assertIn('GpuLost', message)
        self.assertIn('template of %s failed' % field, message)
        wait_until('counted', lambda: 'alertmanager_notifications_failed_total{integration="slack",reason="template"} 1'
                   in get(self.daemon.url + '/metrics'))
        shown = get(self.daemon.url + '/')
        for part in ('chat', field, 'slack'):
            self.assertIn(part, shown[shown.index('Last deliveries'):])
        time.sleep(1)
        self.assertEqual(len(self.hook.seen('/slack')), 1)

    def test_a_missing_template(self):
        self.page(self.MISSING, 'title')
        status, said = self.check_config(self.MISSING)
        self.assertNotEqual(status, 0)
        for part in ('receiver "chat"', 'title', 'no.such.name'):
            self.assertIn(part, said)

    def test_a_template_that_fails_only_when_it_runs(self):
        self.page(self.FAILING, 'text')
        self.assertEqual(self.check_config(self.FAILING)[0], 0)


class PostedAlerts(FieldCase):
    CONFIG = '''
global: {resolve_timeout: 5s}
route: {receiver: hook, group_by: ['...'], group_wait: 1s, group_interval: 2s, repeat_interval: 1h}
receivers: [{name: hook, webhook_configs: [{url: HOOK/, send_resolved: true}]}]
'''

    def test_what_has_ended_long_ago_never_fired(self):
        self.begin(self.CONFIG)
        self.post({'labels': {'alertname': 'A'}, 'endsAt': stamp(-600)})
        self.post({'labels': {'alertname': 'Z'}, 'endsAt': stamp(600)})
        wait_until('a later alert', lambda: self.told('Z'))
        self.assertEqual((self.told('A'), self.told('A', 'resolved')), ([], []))

    def test_a_bad_alert_does_not_take_the_good_one_with_it(self):
        self.begin(self.CONFIG)
        said = self.refused({'labels': {'alertname': 'B'}}, {'labels': {'gpu': ''}})
        self.assertIn('at least one label pair required', said)
        wait_until('B', lambda: self.told('B'))

    def test_an_end_before_the_begin_is_refused(self):
        self.begin(self.CONFIG)
        self.assertIn('start time must be before end time', self.refused({'labels': {'alertname': 'R'}, 'startsAt': stamp(0), 'endsAt': stamp(-5)}))
        self.assertEqual(get_json(self.daemon.url + '/api/v2/alerts'), [])

    def test_without_an_end_it_times_out(self):
        self.begin(self.CONFIG)
        begin = time.time()
        self.post({'labels': {'alertname': 'D'}})
        wait_until('resolved', lambda: self.told('D', 'resolved'), 15)
        fired, over = self.told('D')[0] - begin, self.told('D', 'resolved')[0] - begin
        self.assertLess(abs(fired - 1), 1 * PATIENCE)
        self.assertGreater(over, 5)
        self.assertLess(over, 7 + 1 * PATIENCE)

    def test_a_resolve_with_other_labels_resolves_nothing_and_says_so(self):
        self.begin(self.CONFIG)
        labels = {'alertname': 'C', 'host': 'n1'}
        self.post({'labels': {**labels, 'why': 'x'}, 'endsAt': stamp(600)})
        wait_until('C', lambda: self.told('C'))
        self.post({'labels': labels, 'startsAt': stamp(-60), 'endsAt': stamp(-1)})
        wait_until('a word in the log', lambda: 'matches no alert' in self.daemon.program.output())
        time.sleep(3)
        self.assertEqual(self.told('C', 'resolved'), [])
        self.assertEqual(self.status_of('C')['state'], 'active')


class TimeIntervals(FieldCase):
    CONFIG = '''
route: {receiver: hook, routes: [{receiver: hook, mute_time_intervals: [i], matchers: [a=b]}]}
receivers: [{name: hook, webhook_configs: [{url: HOOK/}]}]
time_intervals: [{name: i, time_intervals: [{times: [{start_time: "%s", end_time: "%s"}]}]}]
'''

    def test_ends(self):
        status, said = self.check_config(self.CONFIG % ('22:00', '07:00'))
        self.assertNotEqual(status, 0)
        self.assertIn('split', said)
        self.assertEqual(self.check_config(self.CONFIG % ('22:00', '24:00'))[0], 0)
        self.assertNotEqual(self.check_config(self.CONFIG % ('22:00', '00:00'))[0], 0)


class Trouble(FieldCase):
    CONFIG = '''
route: {receiver: hook, group_wait: 100ms, group_interval: 1s, repeat_interval: 1h}
receivers: [{name: hook, webhook_configs: [{url: HOOK/, timeout: 1s}]}]
'''

    def test_the_log_says_when_a_receiver_works_again_and_the_page_does_not_repeat_old_failures(self):
        self.begin(self.CONFIG)
        self.hook.reply = lambda path, body: (403, 'no, thank you')
        self.post({'labels': {'alertname': 'E'}, 'annotations': {'summary': 'posted by hand'}, 'endsAt': stamp(600)})
        wait_until('a failure', lambda: 'msg="notification failed"' in self.daemon.program.output())
        shown = get(self.daemon.url + '/')
        self.assertIn('no, thank you', shown)
        # An alert that no rule made is on the page too.
        self.assertIn('posted by hand', shown[shown.index('Alerts held'):shown.index('Targets')])
        self.hook.reply = lambda path, body: (200, 'ok')
        wait_until('the page', lambda: self.told('E'))
        wait_until('a word in the log', lambda: 'msg="receiver works again" receiver=hook' in self.daemon.program.output())

    def test_attempts_before_it_went_through_are_counted_not_quoted(self):
        self.begin(self.CONFIG.replace('group_interval: 1s', 'group_interval: 1m'))
        self.hook.reply = lambda path, body: (503, 'busy just now')
        self.post({'labels': {'alertname': 'F'}, 'endsAt': stamp(600)})
        wait_until('two attempts', lambda: len(self.hook.seen('/', accepted=False)) >= 2)
        self.hook.reply = lambda path, body: (200, 'ok')
        wait_until('the page', lambda: self.told('F'))
        shown = wait_until('it is shown', lambda: (lambda page: page if 'failed attempts' in page else None)(get(self.daemon.url + '/')))
        self.assertNotIn('busy just now', shown)
        self.assertIn('msg="notification sent after failed attempts" receiver=hook', self.daemon.program.output())


if __name__ == '__main__':
    unittest.main(verbosity=2)
