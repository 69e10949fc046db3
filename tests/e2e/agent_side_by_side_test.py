#!/usr/bin/env python3
"""vagt-agent beside the real prometheus-node-exporter on this host: for every family both have, the same TYPE, the same
series, and values that lie between two readings of node_exporter's.

VAGT_BIN names the directory of vagt-agent. Skips, loudly, where prometheus-node-exporter is not installed.
"""
import http.client, os, pathlib, re, shutil, socket, subprocess, sys, time

NODE = os.environ.get('NODE_EXPORTER') or shutil.which('prometheus-node-exporter')
BIN = pathlib.Path(os.environ.get('VAGT_BIN', pathlib.Path(__file__).resolve().parents[2] / 'build/release/bin'))
# Both are right in their own way; docs/compat.md says which.
OWN = re.compile(r'^(go_|process_|promhttp_|node_scrape_|node_exporter_build_info$|node_textfile_)')
LINE = re.compile(r'^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
ROUNDS = 5
# Labels of node_exporter versions after the one that is installed here.
NEWER_LABELS = {'node_network_info': {'adminstate'}, 'node_disk_info': {'rotational'}}
# Debian's package leaves out the loopback, /mnt, /media and /run by default; the agent zram, too.
SAME = ['--collector.tcpstat', '--collector.processes', '--collector.netdev.device-exclude=^$',
        '--collector.filesystem.mount-points-exclude=^/(dev|proc|sys|var/lib/docker/.+)($|/)',
        r'--collector.diskstats.device-exclude=^(z?ram|loop|fd|(h|s|v|xv)d[a-z]|nvme\d+n\d+p)\d+$']
# Gauges that move between any two readings: near is near enough.
MOVING = re.compile(r'^node_(procs_|tcp_connection_states|memory_|load|sockstat_|processes_|udp_queues|filefd_allocated|entropy_avail|filesystem_|timex_|time_|disk_io_now|arp_|cooling|thermal|nf_conntrack_entries$|hwmon_)')


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Exporter:
    def __init__(self, *command):
        self.port = free_port()
        self.process = subprocess.Popen([*command, f'--web.listen-address=127.0.0.1:{self.port}'],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def page(self):
        for attempt in range(100):
            try:
                connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=20)
                connection.request('GET', '/metrics')
                return parse(connection.getresponse().read().decode())
            except OSError:
                if attempt == 99 or self.process.poll() is not None:
                    raise
                time.sleep(0.05)

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


def parse(text):
    """{family: (type, help, {labels: value})}; these exporters have no histograms on the compared families."""
    families, types, helps = {}, {}, {}
    for line in text.splitlines():
        if line.startswith('# TYPE '):
            name, kind = line[7:].split(' ')
            types[name] = kind
        elif line.startswith('# HELP '):
            name, _, help_text = line[7:].partition(' ')
            helps[name] = help_text
        elif (match := LINE.match(line)):
            skip = NEWER_LABELS.get(match[1], ())
            labels = tuple(sorted((k, v) for k, v in LABEL.findall(match[2] or '') if v != '' and k not in skip))
            families.setdefault(match[1], {})[labels] = float(match[3])
    return {name: (types.get(name, 'untyped'), helps.get(name, ''), series) for name, series in families.items()}


def differing_series(name, before, ours, after):
    """Label sets that only one side has. A speed of -1 is no speed; a series that came or went between the readings counts for
    neither."""
    theirs = set(before) & set(after)
    if name == 'node_network_speed_bytes':
        theirs = {labels for labels in theirs if before[labels] > 0}
    return sorted(theirs - set(ours)), sorted(set(ours) - set(before) - set(after))


def fits(name, low, value, high):
    if low > high:
        low, high = high, low
    # What both read changes all the time; they cannot read it at once.
    slack = max(1e-9, 1e-6 * abs(high))
    if MOVING.match(name):
        slack = max(5.0, 0.05 * abs(high)) if name not in ('node_load1', 'node_load5', 'node_load15') else 1.0
    if name == 'node_hwmon_temp_crit_alarm_celsius':
        return value in (0, 1)
    return low - slack <= value <= high + slack


def main():
    if not NODE:
        print('SKIPPED: prometheus-node-exporter is not installed; nothing was compared')
        return 0
    theirs = Exporter(NODE, *SAME)
    ours = Exporter(str(BIN / 'vagt-agent'), *SAME)
    problems, fitted, shared, helps = {}, set(), set(), set()
    try:
        theirs.page(), ours.page()
        for _ in range(ROUNDS):
            before, page, after = theirs.page(), ours.page(), theirs.page()
            shared = {n for n in before if n in page and not OWN.match(n)}
            problems = {}
            for name in sorted(shared):
                kind, help_text, series = page[name]
                if kind != before[name][0]:
                    problems[name, 'type'] = f'{kind} here, {before[name][0]} there'
                if help_text != before[name][1]:
                    helps.add(name)
                missing, extra = differing_series(name, before[name][2], series, after.get(name, (0, 0, {}))[2])
                for labels in missing:
                    problems[name, 'missing', labels] = 'a series only node_exporter has'
                for labels in extra:
                    problems[name, 'extra', labels] = 'a series only the agent has'
                for labels, value in series.items():
                    low, high = before[name][2].get(labels), after.get(name, (0, 0, {}))[2].get(labels)
                    if low is None or high is None or (name, labels) in fitted:
                        continue
                    if fits(name, low, value, high):
                        fitted.add((name, labels))
                    else:
                        problems[name, 'value', labels] = f'{value!r}, and {low!r} to {high!r} there'
            if not problems:
                break
            time.sleep(0.2)
        only_there = sorted(n for n in before if n not in page and not OWN.match(n))
    finally:
        theirs.stop(), ours.stop()
    for key, what in sorted(problems.items(), key=str):
        print('DIFFERS', *key, '-', what)
    print('%d families shared, %d series with the value of node_exporter, %d differences' % (len(shared), len(fitted), len(problems)))
    print('HELP differs in %d families: %s' % (len(helps), ' '.join(sorted(helps)) or 'none'))
    print('families only node_exporter has: %s' % (' '.join(only_there) or 'none'))
    if len(shared) < 100:
        print('too few families to mean anything')
        return 1
    return 1 if problems or helps else 0


if __name__ == '__main__':
    sys.exit(main())
