"""What the receivers that Alertmanager 0.25 did not have, and our own, send to their providers: method, path, headers and body
as each provider's public documentation asks for them (named at each test), firing and resolved, seen on the wire."""
import json
import os
import re
import threading
import time
import unittest
import urllib.parse

from harness import EndToEnd, HttpService, QuietHandler, get, wait_until

CONFIG = '''
route: {receiver: hook, group_by: [alertname], group_wait: 100ms, group_interval: 500ms, repeat_interval: 1h}
receivers:
- name: hook
  %s_configs:
  - %s
'''
LABELS = {'alertname': 'GpuLost', 'gpu': '3', 'severity': 'critical'}
SUMMARY = 'GPU 3 fell off the bus'


class Provider(HttpService):
    """Takes any method; `reply(request)` chooses (status, body) by what came."""

    def __init__(self):
        provider = self
        self.lock = threading.Lock()
        self.requests = []
        self.reply = lambda request: (200, '{}')

        class Handler(QuietHandler):
            def handle_any(self):
                text = self.rfile.read(int(self.headers.get('Content-Length', 0))).decode()
                request = {'method': self.command, 'path': self.path, 'headers': {k.lower(): v for k, v in self.headers.items()},
                           'body': json.loads(text) if text else None}
                status, answer = provider.reply(request)
                with provider.lock:
                    provider.requests.append(request)
                self.answer(status, answer, 'application/json')

            do_GET = do_POST = do_PUT = handle_any

        super().__init__(Handler)

    def seen(self):
        with self.lock:
            return list(self.requests)


class NotifyCapture(EndToEnd):
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.provider = self.enter(Provider())
        self.base = 'http://' + self.provider.address

    def begin(self, kind, settings, *flags):
        """vagtd with one receiver, whose settings are a map of its keys."""
        self.daemon = self.vagtd(alertmanager_yml=CONFIG % (kind, json.dumps(settings)),
                                 flags=['--web.external-url=http://watch.example', '--web.route-prefix=/', *flags]).start()

    def post(self, **more):
        alert = dict({'labels': LABELS, 'annotations': {'summary': SUMMARY}, 'generatorURL': 'http://prom.example/g'}, **more)
        get(self.daemon.url + '/api/v2/alerts', data=json.dumps([alert]).encode(), headers={'Content-Type': 'application/json'})

    def fire(self, requests=1):
        """Posts the alert; the requests that it led to, once there are so many."""
        return self.after(lambda: self.post(), requests)

    def heal(self, requests=1):
        return self.after(lambda: self.post(endsAt=time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())), requests)

    def after(self, act, requests):
        before = len(self.provider.seen())
        act()
        wait_until('%d requests' % requests, lambda: len(self.provider.seen()) >= before + requests)
        return self.provider.seen()[before:]

    def assert_json_post(self, request, path):
        self.assertEqual((request['method'], request['path']), ('POST', path))
        self.assertTrue(request['headers']['content-type'].startswith('application/json'), request['headers'])

    def told(self, fired, healed):
        """Which of the two messages it is -> the request."""
        return {'FIRING:1': fired, 'RESOLVED': healed}.items()

    # Microsoft, "Legacy actionable message card reference": @type and @context say what it is; title, text, themeColor in hex.
    def test_msteams(self):
        self.begin('msteams', {'webhook_url': self.base + '/card'})
        colours = {'FIRING:1': '8C1A1A', 'RESOLVED': '2DC72D'}
        for status, request in self.told(self.fire()[0], self.heal()[0]):
            self.assert_json_post(request, '/card')
            text = request['body'].pop('text')
            title = '[%s] GpuLost (3 critical)' % status
            self.assertEqual(request['body'], {'@type': 'MessageCard', 'type': 'MessageCard', '@context': 'http://schema.org/extensions',
                                               'title': title, 'summary': title, 'themeColor': colours[status]})
            self.assertIn('# Alerts ' + status.split(':')[0].capitalize(), text)
            self.assertIn('- summary = ' + SUMMARY, text)

    # Microsoft, "Create incoming webhooks with Workflows" and the Adaptive Cards schema: a message with one adaptive card.
    def test_msteamsv2(self):
        self.begin('msteamsv2', {'webhook_url': self.base + '/flow'})
        colours = {'FIRING:1': 'Attention', 'RESOLVED': 'Good'}
        for status, request in self.told(self.fire()[0], self.heal()[0]):
            self.assert_json_post(request, '/flow')
            self.assertEqual(request['body']['type'], 'message')
            attachment, = request['body']['attachments']
            self.assertEqual((attachment['contentType'], attachment['contentUrl']), ('application/vnd.microsoft.card.adaptive', None))
            card = attachment['content']
            self.assertEqual([card[k] for k in ('$schema', 'type', 'version', 'msteams')],
                             ['http://adaptivecards.io/schemas/adaptive-card.json', 'AdaptiveCard', '1.2', {'width': 'full'}])
            title, text = card['body']
            self.assertEqual(title, {'type': 'TextBlock', 'text': '[%s] GpuLost (3 critical)' % status, 'weight': 'Bolder',
                                     'size': 'Medium', 'wrap': True, 'style': 'heading', 'color': colours[status]})
            self.assertEqual((text['type'], text['wrap']), ('TextBlock', True))
            self.assertIn('- summary = ' + SUMMARY, text['text'])

    # Rocket.Chat, "Post Message": POST /api/v1/chat.postMessage with X-Auth-Token and X-User-Id.
    def test_rocketchat(self):
        self.provider.reply = lambda r: (200, '{"success": true}')
        self.begin('rocketchat', {'api_url': self.base + '/', 'token': 'tok', 'token_id': 'me', 'channel': '#gpu', 'send_resolved': True,
                                  'text': '{{ .CommonAnnotations.summary }}', 'emoji': ':fire:',
                                  'fields': [{'title': 'gpu', 'value': '{{ .CommonLabels.gpu }}', 'short': True}]})
        colours = {'FIRING:1': 'red', 'RESOLVED': 'green'}
        for status, request in self.told(self.fire()[0], self.heal()[0]):
            self.assert_json_post(request, '/api/v1/chat.postMessage')
            self.assertEqual([request['headers'][h] for h in ('x-auth-token', 'x-user-id')], ['tok', 'me'])
            self.assertEqual(request['body'], {'channel': '#gpu', 'emoji': ':fire:', 'attachments': [
                {'title': '[%s] GpuLost (3 critical)' % status, 'title_link': 'http://watch.example/#/alerts?receiver=hook',
                 'text': SUMMARY, 'color': colours[status], 'fields': [{'title': 'gpu', 'value': '3', 'short': True}]}]})

    # Mattermost, "Incoming webhooks" and "Message attachments"; priority as in "Message priority".
    def test_mattermost(self):
        self.begin('mattermost', {'webhook_url': self.base + '/hooks/x', 'channel': 'gpu', 'text': '{{ .CommonAnnotations.summary }}',
                                  'priority': {'priority': 'urgent', 'requested_ack': True}, 'props': {'card': '# {{ .Status }}'}})
        colours = {'FIRING:1': 'danger', 'RESOLVED': 'good'}
        link = 'http://watch.example/#/alerts?receiver=hook'
        for status, request in self.told(self.fire()[0], self.heal()[0]):
            title = '[%s] GpuLost (3 critical)' % status
            self.assert_json_post(request, '/hooks/x')
            self.assertEqual(request['body'], {
                'channel': 'gpu', 'username': 'Alertmanager', 'text': SUMMARY,
                'props': {'card': '# ' + status.split(':')[0].lower()}, 'priority': {'priority': 'urgent', 'requested_ack': True},
                'attachments': [{'fallback': title + ' | ' + link, 'color': colours[status], 'title': title, 'title_link': link}]})

    # incident.io, "Alert sources: Alertmanager": the source's URL, its token as bearer, Alertmanager's own payload.
    def test_incidentio(self):
        self.begin('incidentio', {'url': self.base + '/v2/alert_events/alertmanager/1', 'alert_source_token': 'tok'})
        for status, request in self.told(self.fire()[0], self.heal()[0]):
            word = status.split(':')[0].lower()
            self.assert_json_post(request, '/v2/alert_events/alertmanager/1')
            self.assertEqual(request['headers']['authorization'], 'Bearer tok')
            body = request['body']
            alert, = body['alerts']
            self.assertEqual([body[k] for k in ('version', 'groupKey', 'status', 'receiver', 'groupLabels', 'commonLabels', 'truncatedAlerts')],
                             ['1', '{}:{alertname="GpuLost"}', word, 'hook', {'alertname': 'GpuLost'}, LABELS, 0])
            self.assertEqual([alert[k] for k in ('status', 'labels', 'annotations', 'generatorURL')],
                             [word, LABELS, {'summary': SUMMARY}, 'http://prom.example/g'])
            self.assertEqual(alert['endsAt'] == '0001-01-01T00:00:00Z', word == 'firing')

    # ntfy, "Publish as JSON": POST to the server's root; priority 1 to 5, tags a list.
    def test_ntfy(self):
        self.begin('ntfy', {'url': self.base + '/', 'topic': 'gpu', 'token': 'tok', 'tags': ['warning', '{{ .CommonLabels.gpu }}']})
        for status, request in self.told(self.fire()[0], self.heal()[0]):
            self.assert_json_post(request, '/')
            self.assertEqual(request['headers']['authorization'], 'Bearer tok')
            message = request['body'].pop('message')
            self.assertEqual(request['body'], {'topic': 'gpu', 'title': '[%s] GpuLost (3 critical)' % status, 'tags': ['warning', '3'],
                                               'priority': 4 if status == 'FIRING:1' else 3, 'click': 'http://watch.example'})
            self.assertTrue(message.startswith(SUMMARY), message)

    # Matrix, "Client-Server API": PUT …/rooms/{roomId}/send/{eventType}/{txnId}, the room's id percent-encoded; a transaction id
    # for each event.
    def test_matrix(self):
        self.begin('matrix', {'homeserver_url': self.base, 'room_id': '!r:m.example', 'access_token': 'tok', 'html': '<b>{{ .Status }}</b>'})
        transactions = set()
        for status, request in self.told(self.fire()[0], self.heal()[0]):
            room, transaction = re.fullmatch('/_matrix/client/v3/rooms/([^/]+)/send/m.room.message/([^/]+)', request['path']).groups()
            transactions.add(transaction)
            self.assertEqual((request['method'], urllib.parse.unquote(room)), ('PUT', '!r:m.example'))
            self.assertEqual(request['headers']['authorization'], 'Bearer tok')
            text = request['body'].pop('body')
            self.assertEqual(request['body'], {'msgtype': 'm.text', 'format': 'org.matrix.custom.html',
                                               'formatted_body': '<b>%s</b>' % status.split(':')[0].lower()})
            self.assertTrue(text.startswith('[%s] GpuLost (3 critical)\n%s' % (status, SUMMARY)), text)
        self.assertEqual(len(transactions), 2)

    # Slack, "chat.postMessage" and "chat.update": the bot's token as bearer; the message is edited by channel id and ts.
    def test_slack_edits_its_message(self):
        self.provider.reply = lambda r: (200, '{"ok":true,"ts":"17.1","channel":"C1"}')
        self.begin('slack', {'app_url': self.base + '/api/chat.postMessage', 'app_token': 'tok', 'channel': '#gpu', 'update_message': True,
                             'send_resolved': True})
        fired, healed = self.fire()[0], self.heal()[0]
        self.assert_json_post(fired, '/api/chat.postMessage')
        self.assert_json_post(healed, '/api/chat.update')
        self.assertEqual([r['headers']['authorization'] for r in (fired, healed)], ['Bearer tok'] * 2)
        self.assertEqual((fired['body']['channel'], fired['body'].get('ts')), ('#gpu', None))
        self.assertEqual((healed['body']['channel'], healed['body']['ts']), ('C1', '17.1'))
        for status, request in self.told(fired, healed):
            self.assertIn('[%s] GpuLost' % status, request['body']['attachments'][0]['title'])

    # Atlassian, "Jira Cloud platform REST API v3": issue search, create issue, edit issue, get transitions, transition issue.
    def test_jira(self):
        issue = {'issues': [{'key': 'GPU-1', 'fields': {'status': {'statusCategory': {'key': 'new'}}}}]}

        def reply(request):
            path = request['path']
            if path.endswith('/search/jql'):
                created = any(r['path'].endswith('/issue') for r in self.provider.seen())
                return 200, json.dumps(issue if created else {'issues': []})
            if path.endswith('/transitions') and request['method'] == 'GET':
                return 200, '{"transitions":[{"id":"5","name":"Reopen"},{"id":"7","name":"Done"}]}'
            return (201, '{"key":"GPU-1"}') if path.endswith('/issue') else (204, '')

        self.provider.reply = reply
        self.begin('jira', {'api_url': self.base + '/rest/api/3', 'project': 'GPU', 'issue_type': 'Bug', 'labels': ['vagt'],
                            'priority': 'High', 'resolve_transition': 'Done', 'reopen_transition': 'Reopen',
                            'fields': {'customfield_1': {'value': '{{ .CommonLabels.gpu }}'}},
                            'http_config': {'basic_auth': {'username': 'me@x.example', 'password': 'tok'}}})
        fired = self.fire(2)
        self.assertEqual([(r['method'], r['path']) for r in fired], [('POST', '/rest/api/3/search/jql'), ('POST', '/rest/api/3/issue')])
        self.assertEqual({r['headers']['authorization'] for r in fired}, {'Basic bWVAeC5leGFtcGxlOnRvaw=='})
        label = re.search(r'labels="(ALERT\{[0-9a-f]{64}\})"', fired[0]['body']['jql']).group(1)
        self.assertIn('statusCategory != Done and project="GPU"', fired[0]['body']['jql'])
        fields = fired[1]['body']['fields']
        text = fields.pop('description')
        self.assertEqual(fields, {'project': {'key': 'GPU'}, 'issuetype': {'name': 'Bug'}, 'summary': '[FIRING:1] GpuLost (3 critical)',
                                  'labels': [label, 'vagt'], 'priority': {'name': 'High'}, 'customfield_1': {'value': '3'}})
        # Version 3 takes texts as Atlassian Document Format only.
        self.assertEqual((text['type'], text['version'], text['content'][0]['type']), ('doc', 1, 'paragraph'))
        self.assertIn(SUMMARY, text['content'][0]['content'][0]['text'])
        healed = self.heal(4)
        self.assertEqual([(r['method'], r['path']) for r in healed],
                         [('POST', '/rest/api/3/search/jql'), ('PUT', '/rest/api/3/issue/GPU-1'),
                          ('GET', '/rest/api/3/issue/GPU-1/transitions'), ('POST', '/rest/api/3/issue/GPU-1/transitions')])
        self.assertEqual(healed[3]['body'], {'transition': {'id': '7'}})

    def test_stdout(self):
        self.begin('stdout', {})
        self.post()
        wait_until('the page', lambda: '[FIRING:1] GpuLost (3 critical)' in self.daemon.program.output())
        self.assertIn(SUMMARY, self.daemon.program.output())
        self.post(endsAt=time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime()))
        wait_until('the resolve', lambda: '[RESOLVED] GpuLost (3 critical)' in self.daemon.program.output())

    # Off unless a flag allows it; the payload is the webhook's, on standard input.
    def test_exec(self):
        told = os.path.join(self.folder, 'told')
        script = os.path.join(self.folder, 'page.sh')
        with open(script, 'w', encoding='utf-8') as f:
            f.write('#!/bin/sh\nprintf "%s %s %s " "$1" "$VAGT_STATUS" "$VAGT_RECEIVER" >> "$2"; cat >> "$2"; echo >> "$2"\n')
        os.chmod(script, 0o700)
        settings = {'command': [script, 'gpu-{{ .CommonLabels.gpu }}', told]}
        self.begin('exec', settings)
        self.post()
        wait_until('the refusal', lambda: 'exec-receiver' in self.daemon.program.output())
        self.assertFalse(os.path.exists(told))
        self.begin('exec', settings, '--enable-feature=exec-receiver')
        for status, act in (('firing', lambda: self.post()), ('resolved', lambda: self.post(endsAt=time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())))):
            act()
            line = wait_until(status, lambda: self.line_of(told, status))
            first, receiver, body = line.split(' ', 3)[0], line.split(' ', 3)[2], json.loads(line.split(' ', 3)[3])
            self.assertEqual((first, receiver, body['status'], body['version']), ('gpu-3', 'hook', status, '4'))
            self.assertEqual(body['alerts'][0]['labels'], LABELS)

    @staticmethod
    def line_of(path, status):
        if not os.path.exists(path):
            return None
        with open(path, encoding='utf-8') as f:
            lines = [line for line in f if ' %s ' % status in line[:60] and line.endswith('\n')]
        return lines[0] if lines else None


if __name__ == '__main__':
    unittest.main(verbosity=2)
