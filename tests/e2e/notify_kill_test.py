"""kill -9 of vagtd at random moments, with receivers that are fast, slow, failing and hanging: every alert that was
acknowledged is told to each of them, firing and resolved; what is told twice says that it may be a repeat.

  notify_kill_test.py            five cycles
  VAGT_KILL_CYCLES=100 VAGT_KILL_SEED=7 notify_kill_test.py
"""
import collections
import datetime
import json
import os
import random
import time
import unittest

from harness import EndToEnd, HttpService, QuietHandler, get, wait_until

CYCLES = int(os.environ.get('VAGT_KILL_CYCLES', '5'))
SEED = int(os.environ.get('VAGT_KILL_SEED', str(random.randrange(1 << 30))))
MODES = ('fast', 'slow', 'failing', 'hanging')
CONFIG = '''
route: {{receiver: all, group_by: [alertname], group_wait: 100ms, group_interval: 400ms, repeat_interval: 24h}}
receivers:
  - name: all
    webhook_configs: [{hooks}]
'''


class Receivers(HttpService):
    """POST /fast, /slow, /failing, /hanging. `told[mode]` counts the messages that were taken in."""

    def __init__(self, seed):
        outer = self
        self.told = {mode: collections.Counter() for mode in MODES}
        self.unmarked = []
        self.marked = 0
        self.patient = False  # at the end: no more failures
        self.random = random.Random(seed)

        class Handler(QuietHandler):
            def do_POST(self):
                mode = self.path.strip('/')
                message = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
                if mode == 'slow':
                    time.sleep(0.2)
                if not outer.patient:
                    if mode == 'failing' and outer.random.random() < 0.6:
                        return self.answer(503, 'down')
                    if mode == 'hanging' and outer.random.random() < 0.3:
                        time.sleep(1.5)  # gave no answer and took nothing
                        self.close_connection = True
                        return None
                outer.take(mode, message)
                return self.answer(200, 'ok')

        super().__init__(Handler)
        self.server.handle_error = lambda *_: None  # vagtd hangs up when it is killed

    def take(self, mode, message):
        for alert in message['alerts']:
            key = (alert['labels']['alertname'], alert['status'])
            self.told[mode][key] += 1
            if self.told[mode][key] > 1:
                if 'perhaps a repeat' in message['notification_reason']:
                    self.marked += 1
                else:
                    self.unmarked.append((mode, key))

    def everyone_knows(self, key):
        return all(self.told[mode][key] for mode in MODES)


class NotifyKill(EndToEnd):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.receivers = self.enter(Receivers(SEED))
        hooks = ', '.join('{url: "http://%s/%s", send_resolved: true, timeout: 1s}' % (self.receivers.address, mode)
                          for mode in MODES)
        self.daemon = self.vagtd(alertmanager_yml=CONFIG.format(hooks=hooks)).start()

    def post(self, name, firing):
        now = datetime.datetime.now(datetime.timezone.utc)
        alert = {'labels': {'alertname': name}}
        alert['endsAt'] = (now + datetime.timedelta(hours=1) if firing else now).isoformat()
        body = json.dumps([alert]).encode()
        get(self.daemon.url + '/api/v2/alerts', data=body, headers={'Content-Type': 'application/json'}, method='POST')

    def test_nothing_is_lost_and_repeats_say_so(self):
        firing, resolved = [], []
        for cycle in range(CYCLES):
            for i in range(2):
                name = 'A%d-%d' % (cycle, i)
                self.post(name, True)
                firing.append(name)
            # Only what everybody has heard of ends: else there would be nothing to resolve.
            for name in [n for n in firing if n not in resolved and self.receivers.everyone_knows((n, 'firing'))][:2]:
                self.post(name, False)
                resolved.append(name)
            time.sleep(self.random.uniform(0, 0.9))
            self.daemon.kill9()
            self.daemon.start()
        self.receivers.patient = True
        owed = [(n, 'firing') for n in firing] + [(n, 'resolved') for n in resolved]
        try:
            wait_until('everybody told of everything', lambda: all(map(self.receivers.everyone_knows, owed)), 30)
        except AssertionError:
            self.fail('seed %d, lost: %s' % (SEED, [(mode, key) for key in owed for mode in MODES
                                                    if not self.receivers.told[mode][key]]))
        time.sleep(2)  # what would come twice has had its chance
        print('%d cycles, seed %d: %d alerts fired, %d resolved, none lost; repeats: %d marked, %d not'
              % (CYCLES, SEED, len(firing), len(resolved), self.receivers.marked, len(self.receivers.unmarked)))
        self.assertEqual(self.receivers.unmarked, [])


if __name__ == '__main__':
    unittest.main(verbosity=2)
