"""The main job: for each documented rule a fault reaches the routed receivers with its expanded annotation, healing sends
the resolve, a healthy server stays silent. Durations are scaled down sixty-fold; everything else is as shipped."""
import json
import os
import re
import time
import unittest

from harness import ROOT, Capture, EndToEnd, Exporter, MailServer, wait_until

SCALE = 60
UNITS = {'s': 1, 'm': 60, 'h': 3600}


def scaled(match):
    millis = int(match.group(2)) * UNITS[match.group(3)] * 1000 // SCALE
    return '%s%dms%s' % (match.group(1), millis, match.group(4))


def scale_rules(text):
    text = re.sub(r'((?:interval|for): )(\d+)([smh])()', scaled, text)
    return re.sub(r'(\[)(\d+)([smh])(\])', scaled, text)


HEALTHY = {
    'DCGM_FI_DEV_GPU_TEMP': 61, 'DCGM_FI_DEV_THERMAL_VIOLATION': 0, 'DCGM_FI_DEV_ECC_DBE_VOL_TOTAL': 0,
    'DCGM_FI_DEV_XID_ERRORS': 0, 'DCGM_FI_DEV_POWER_USAGE': 430, 'DCGM_FI_DEV_GPU_UTIL': 97,
    'DCGM_FI_DEV_FB_USED': 40000, 'node_memory_MemAvailable_bytes': 400e9, 'node_memory_MemTotal_bytes': 512e9,
    'node_vmstat_oom_kill': 0, 'container_start_time_seconds': 1.7e9, 'vllm:num_requests_waiting': 0,
}
LE = ['1', '5', '10', '30', '+Inf']


class Server:
    """One GPU server's page. `set` overrides a gauge; `grow` makes a counter rise by so much a second from now on."""

    def __init__(self):
        self.values = dict(HEALTHY)
        self.growth = {}
        self.slow_requests = None  # since when all requests take 20 s
        self.requests = 0.0

    def set(self, name, value):
        self.values[name] = value

    def grow(self, name, per_second):
        self.growth[name] = (self.values[name], time.monotonic(), per_second)

    def settle(self, name):
        self.values[name] = self.value(name)
        del self.growth[name]

    def value(self, name):
        if name in self.growth:
            start, since, rate = self.growth[name]
            return start + rate * (time.monotonic() - since)
        return self.values[name]

    def page(self):
        lines = []
        for name in self.values:
            labels = '{gpu="3"}' if name.startswith('DCGM') else '{name="trainer"}' if name.startswith('container') else ''
            lines.append('%s%s %r' % (name, labels, float(self.value(name))))
        slow = 0 if self.slow_requests is None else 40 * (time.monotonic() - self.slow_requests)
        lines.append('# TYPE vllm:e2e_request_latency_seconds histogram')
        for le in LE:
            count = 1000 if le in ('1', '5', '10') else 1000 + slow
            lines.append('vllm:e2e_request_latency_seconds_bucket{le="%s"} %r' % (le, float(count)))
        lines.append('vllm:e2e_request_latency_seconds_count %r' % (1000.0 + slow))
        lines.append('vllm:e2e_request_latency_seconds_sum %r' % (900.0 + 20 * slow))
        return '\n'.join(lines) + '\n'


ALERTMANAGER = '''
global:
  resolve_timeout: 5m
  smtp_smarthost: 127.0.0.1:{smtp}
  smtp_from: vagt@example.org
  smtp_auth_username: vagt
  smtp_auth_password: correct horse
  smtp_require_tls: true
route:
  receiver: everything
  group_by: [alertname, instance]
  group_wait: 200ms
  group_interval: 500ms
  repeat_interval: 1h
  routes:
    - receiver: audit
      continue: true
    - matchers: [severity="critical"]
      receiver: on-call
    - matchers: [severity="warning"]
      receiver: chat
receivers:
  - name: everything
    webhook_configs: [{{url: "http://{hooks}/nobody", send_resolved: true}}]
  - name: audit
    webhook_configs: [{{url: "http://{hooks}/audit", send_resolved: true}}]
  - name: on-call
    pagerduty_configs: [{{routing_key: "0123456789abcdef0123456789abcdef", url: "http://{hooks}/pagerduty", send_resolved: true}}]
    email_configs:
      - to: "oncall@example.org"
        send_resolved: true
        text: '{{{{ range .Alerts }}}}{{{{ .Annotations.summary }}}}{{{{ end }}}}'
        tls_config: {{ca_file: "{ca}"}}
  - name: chat
    slack_configs: [{{api_url: "http://{hooks}/slack", channel: "#gpu", send_resolved: true}}]
'''
PROMETHEUS = '''
global: {{scrape_interval: 250ms, scrape_timeout: 250ms, evaluation_interval: 500ms}}
rule_files: [rules.yml]
scrape_configs:
  - job_name: gpu
    static_configs:
      - targets: ["{sick}", "{healthy}"]
'''

# rule -> (severity, how it falls ill, how it heals, what the summary says)
CASES = {
    'GPUTempCritical': ('critical', lambda s: s.set('DCGM_FI_DEV_GPU_TEMP', 91), lambda s: s.set('DCGM_FI_DEV_GPU_TEMP', 61),
                        'GPU 3 thermal critical (91 °C)'),
    'GPUThermalThrottling': ('warning', lambda s: s.grow('DCGM_FI_DEV_THERMAL_VIOLATION', 1e6),
                             lambda s: s.settle('DCGM_FI_DEV_THERMAL_VIOLATION'), None),
    'GPUECCUncorrectable': ('critical', lambda s: s.set('DCGM_FI_DEV_ECC_DBE_VOL_TOTAL', 2), lambda s: None,
                            'GPU 3 uncorrectable ECC — schedule replacement'),
    'GPUXIDError': ('critical', lambda s: s.set('DCGM_FI_DEV_XID_ERRORS', 79), lambda s: None, None),
    'GPUPowerEnvelopeExceeded': ('warning', lambda s: s.set('DCGM_FI_DEV_POWER_USAGE', 610),
                                 lambda s: s.set('DCGM_FI_DEV_POWER_USAGE', 430), None),
    'GPUIdleDuringWork': ('warning', lambda s: s.set('DCGM_FI_DEV_GPU_UTIL', 0), lambda s: s.set('DCGM_FI_DEV_GPU_UTIL', 97),
                          'GPU 3 idle with VRAM allocated — likely hung'),
    'HostMemoryLow': ('critical', lambda s: s.set('node_memory_MemAvailable_bytes', 9e9),
                      lambda s: s.set('node_memory_MemAvailable_bytes', 400e9), None),
    'OOMKillerFired': ('critical', lambda s: s.set('node_vmstat_oom_kill', 1), lambda s: None, None),
    'ContainerRestartLoop': ('warning', lambda s: s.grow('container_start_time_seconds', 50),
                             lambda s: s.settle('container_start_time_seconds'), None),
    'vLLMQueueBacklog': ('warning', lambda s: s.set('vllm:num_requests_waiting', 25),
                         lambda s: s.set('vllm:num_requests_waiting', 0), None),
    'vLLMHighLatency': ('warning', lambda s: setattr(s, 'slow_requests', time.monotonic()), None, None),
}


class DocumentedRules(EndToEnd):
    def setUp(self):
        super().setUp()
        self.sick, self.healthy = Server(), Server()
        self.sick_exporter = self.enter(Exporter(self.sick.page))
        self.healthy_exporter = self.enter(Exporter(self.healthy.page))
        self.hooks = self.enter(Capture(lambda path, body: (202 if path.startswith('/pagerduty') else 200, 'ok')))
        self.mail = self.enter(MailServer(self.folder))
        self.daemon = self.vagtd(
            PROMETHEUS.format(sick=self.sick_exporter.address, healthy=self.healthy_exporter.address),
            ALERTMANAGER.format(hooks=self.hooks.address, smtp=self.mail.port, ca=self.mail.cert))
        with open(os.path.join(ROOT, 'rules', 'library', 'documented.rules.yml'), encoding='utf-8') as f:
            self.daemon.write('rules.yml', scale_rules(f.read()))
        self.daemon.start()
        # increase() needs samples from before the fault.
        wait_until('four scrapes', lambda: (self.daemon.value('min(count_over_time(up[1m]))') or 0) >= 4)

    def audit(self, alert, status):
        found = []
        for request in self.hooks.seen('/audit'):
            payload = json.loads(request['body'])
            if payload['status'] == status and payload['groupLabels']['alertname'] == alert:
                found.append(payload)
        return found

    def routed(self, alert, severity, status):
        """True when the receivers of this severity have the message."""
        if severity == 'critical':
            action = {'firing': 'trigger', 'resolved': 'resolve'}[status]
            paged = any(json.loads(r['body'])['event_action'] == action and alert in r['body']
                        for r in self.hooks.seen('/pagerduty'))
            mailed = any(alert in m['Subject'] and m['Subject'].upper().startswith('[' + status.upper())
                         for m in self.mail.parsed())
            return paged and mailed
        return any(alert in r['body'] and ('[FIRING' if status == 'firing' else '[RESOLVED') in r['body']
                   for r in self.hooks.seen('/slack'))

    def test_every_documented_rule_pages_and_resolves(self):
        for alert, (_, fall_ill, _, _) in CASES.items():
            fall_ill(self.sick)
        for alert, (severity, _, _, summary) in CASES.items():
            with self.subTest(alert=alert, step='firing'):
                payload = wait_until(alert + ' firing', lambda: self.audit(alert, 'firing'), 40)[0]
                self.assertEqual(payload['alerts'][0]['labels']['instance'], self.sick_exporter.address)
                self.assertEqual(payload['alerts'][0]['labels']['severity'], severity)
                if summary:
                    self.assertEqual(payload['alerts'][0]['annotations']['summary'], summary)
                wait_until(alert + ' at the receivers of ' + severity, lambda: self.routed(alert, severity, 'firing'))
        for alert, (_, _, heal, _) in CASES.items():
            if heal:
                heal(self.sick)
        self.sick.slow_requests = None
        for alert, (severity, _, _, _) in CASES.items():
            with self.subTest(alert=alert, step='resolved'):
                wait_until(alert + ' resolved', lambda: self.audit(alert, 'resolved'), 40)
                wait_until(alert + ' resolved at ' + severity, lambda: self.routed(alert, severity, 'resolved'))
        self.check_mail()
        self.check_silence_of_the_healthy_server()

    def check_mail(self):
        mails = [m for m in self.mail.parsed() if 'GPUTempCritical' in m['Subject']]
        parts = {p.get_content_type(): p.get_content() for p in mails[0].walk() if not p.is_multipart()}
        self.assertIn('text/html', parts)
        self.assertIn('GPU 3 thermal critical (91 °C)', parts['text/html'])
        self.assertIn('text/plain', parts)
        self.assertIn('GPU 3 thermal critical (91 °C)', parts['text/plain'])

    def check_silence_of_the_healthy_server(self):
        self.assertEqual(self.hooks.seen('/nobody'), [])
        for request in self.hooks.seen(''):
            self.assertNotIn(self.healthy_exporter.address, request['body'])


if __name__ == '__main__':
    unittest.main(verbosity=2)
