"""A GPU server that is files and small programs: /proc, /sys and / of the fixture kit's host, an nvidia-smi, ipmitool, systemctl and
the like that print what a test put there, and the agent that reads them all. What the agent shows is one page, over HTTP."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import time
import urllib.error

import harness

sys.path.insert(0, os.path.join(harness.ROOT, 'tests', 'node-agent'))
import kit_host  # noqa: E402

PROGRAMS = {
    'nvidia-smi': 'case "$*" in *"nvlink -s"*) f=nvlink-s.txt;; *"nvlink -e"*) f=nvlink-e.txt;; *) f=nvidia-smi.xml;; esac\n',
    'ipmi-sensors': 'f=ipmi/ipmi-sensors.csv\n',
    'ipmitool': 'case "$*" in *sdr*elist*) f=ipmi/ipmitool-sdr-elist-full.txt;; *chassis*) f=ipmi/ipmitool-chassis-status.txt;;\n'
                '*dcmi*) f=ipmi/ipmitool-dcmi-power-reading.txt;; *"sel info"*) f=ipmi/ipmitool-sel-info.txt;;\n'
                '*"sel elist"*) f=ipmi/ipmitool-sel-elist.txt;; *) exit 1;; esac\n',
    'systemctl': 'case "$*" in *list-units*) f=units.txt;; *.socket*) f=sockets.txt;; *) f=services.txt;; esac\n',
}
BACKGROUND = ('containers', 'driver_readiness', 'gpu', 'ipmi', 'kernel_log', 'links', 'smart', 'systemd')


class PlayedHost:
    def __init__(self, kit, folder):
        self.kit = pathlib.Path(kit)
        self.folder = pathlib.Path(folder)
        self.root = kit_host.copy_host(kit, self.folder / 'root', 'gpu8')
        self.answers = self.folder / 'answers'
        self.flags = []
        self.agent = None
        self.port = None
        for name in ('answers', 'bin', 'state', 'smart', 'textfile'):
            (self.folder / name).mkdir()
        self.take('nvidia-smi.xml', 'nvidia/written/h100x8-healthy.xml')
        self.take('nvlink-s.txt', 'nvidia/written/nvlink-s-healthy.txt')
        self.take('nvlink-e.txt', 'nvidia/written/nvlink-e-errors.txt')
        self.edit('answers/nvlink-e.txt', r'Errors: \d+', 'Errors: 0')
        self.bmc('healthy')
        for name in ('nvme-samsung-3pct', 'sata-wd-hc550', 'sas-hitachi'):
            self.take('../smart/%s.json' % name, 'smartctl/%s.json' % name)
        self.edit('smart/nvme-samsung-3pct.json', '/dev/nvme9', '/dev/nvme0')   # the drive whose vendor log is played
        self.units_written = 639454618
        self.disk('nvme-samsung-3pct', ['nvme_smart_health_information_log', 'data_units_written'], self.units_written)
        self.media_written(10**14)
        self.write('answers/units.txt', 'ssh.service loaded active running OpenBSD\ncron.service loaded active running cron\n')
        self.write('answers/sockets.txt', 'Id=docker.socket\nNAccepted=1\nNConnections=0\nNRefused=0\n')
        self.write('answers/services.txt', 'Id=ssh.service\nNRestarts=0\n')
        self.write('ethtool.tsv', 'ens10np0\trx_err_lane_0_phy\t0\n')
        self.write('kmsg', '6,1,1000000,-;Linux version 6.8.0-64-generic\n')
        self.write('root/dev/ipmi0', '')
        self.write('root/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count', '0\n')
        self.write('root/sys/devices/system/cpu/cpu0/topology/physical_package_id', '0\n')
        (self.root / 'run' / 'systemd' / 'system').mkdir(parents=True)
        calls = self.root / 'syscalls'
        self.edit('root/syscalls/statfs.tsv', r'(/mnt/models).*', r'\1\t4096\t900000000\t800000000\t800000000\t0\t0\t0')
        self.containers([container('trainer', 'running'), container('vllm', 'running', health='healthy')])
        for program, body in PROGRAMS.items():
            path = self.folder / 'bin' / program
            path.write_text('#!/bin/sh\n' + body + 'cat "%s/$f"\n' % self.answers)
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        self.arguments = ['--path.procfs=%s/proc' % self.root, '--path.sysfs=%s/sys' % self.root, '--path.rootfs=%s' % self.root,
                          '--path.udev.data=%s/none' % self.root, '--path.state=%s/state' % self.folder,
                          '--gpu.nvml-library=%s/no-such-library.so' % self.folder, '--gpu.expected=8',
                          '--collector.ipmi.psus-required=4', '--fixture.hostname=gpu-node-01',
                          '--fixture.statfs=%s' % (calls / 'statfs.tsv'), '--fixture.adjtimex=%s' % (calls / 'adjtimex.tsv'),
                          '--fixture.uname=%s' % (calls / 'uname.tsv'), '--fixture.mtimes=%s' % (self.root / 'mtimes.tsv'),
                          '--fixture.kmsg=%s/kmsg' % self.folder, '--fixture.smartctl=%s/smart' % self.folder,
                          '--fixture.nvme=%s/nvme.json' % self.folder,
                          '--fixture.docker=%s/docker.json' % self.folder, '--fixture.ethtool=%s/ethtool.tsv' % self.folder,
                          '--collector.textfile.directory=%s/textfile' % self.folder,
                          '--no-collector.cpufreq', '--log.level=error']

    # What a fault is made of.
    def take(self, name, fixture):
        shutil.copyfile(self.kit / fixture, self.answers / name)
        os.chmod(self.answers / name, 0o644)

    def bmc(self, state):
        shutil.rmtree(self.answers / 'ipmi', ignore_errors=True)
        shutil.copytree(self.kit / 'ipmi' / state, self.answers / 'ipmi')
        for path in [self.answers / 'ipmi', *(self.answers / 'ipmi').iterdir()]:
            os.chmod(path, 0o755 if path.is_dir() else 0o644)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def edit(self, name, pattern, replacement, count=0):
        path = self.folder / name
        text, n = re.subn(pattern, replacement, path.read_text(), count=count, flags=re.M)
        assert n > 0, '%s: nothing matches %s' % (name, pattern)
        path.write_text(text)

    def gpu(self, index, pattern, replacement):
        """Edits one GPU's part of nvidia-smi's answer."""
        path = self.answers / 'nvidia-smi.xml'
        parts = path.read_text().split('<gpu id=')
        parts[index + 1], n = re.subn(pattern, replacement, parts[index + 1], flags=re.S)
        assert n > 0, 'GPU %d: nothing matches %s' % (index, pattern)
        path.write_text('<gpu id='.join(parts))

    def kernel(self, *lines, seconds_ago=60, level=3, sequence=2):
        at = int((time.time() - seconds_ago) * 1e6)
        with open(self.folder / 'kmsg', 'a') as log:
            for i, line in enumerate(lines):
                log.write('%d,%d,%d,-;%s\n' % (level, sequence + i, at + i, line))

    def disk(self, name, path, value):
        file = self.folder / 'smart' / (name + '.json')
        report = json.loads(file.read_text())
        node = report
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value
        file.write_text(json.dumps(report))

    def media_written(self, total):
        self.write('nvme.json', json.dumps({'Physical media units written': {'hi': 0, 'lo': total}}))

    def settle(self, argument):
        """Another value of a flag that is given."""
        name = argument.split('=')[0] + '='
        assert any(a.startswith(name) for a in self.arguments), name
        self.arguments = [argument if a.startswith(name) else a for a in self.arguments]

    def containers(self, containers):
        self.write('docker.json', json.dumps(containers))

    # Copies, for faults that must not see each other.
    def snapshot(self, folder):
        shutil.copytree(self.folder, folder, symlinks=True)
        other = object.__new__(PlayedHost)
        other.__dict__.update(self.__dict__)
        swap = lambda path: pathlib.Path(str(path).replace(str(self.folder), str(folder)))  # noqa: E731
        other.folder, other.root, other.answers = pathlib.Path(folder), swap(self.root), swap(self.answers)
        other.arguments = [a.replace(str(self.folder), str(folder)) for a in self.arguments]
        other.flags, other.agent, other.port = list(self.flags), None, None
        for program in (other.folder / 'bin').iterdir():
            program.write_text(program.read_text().replace(str(self.folder), str(folder)))
        return other

    # The agent.
    def start(self, port=None):
        self.port = port or self.port or harness.free_port()
        environment = dict(os.environ, PATH='%s/bin:%s' % (self.folder, os.environ['PATH']))
        self.agent = harness.Program([os.path.join(harness.BIN, 'vagt-agent'), *self.arguments, *self.flags,
                                      '--web.listen-address=127.0.0.1:%d' % self.port], str(self.folder / 'agent.log'), environment)
        harness.wait_until('every collector of the agent has run', self.complete, 60)

    def complete(self):
        with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            page = self.fetch()
            ran = set(re.findall(r'vagt_collector_(?:last_success_timestamp_seconds|errors_total)\{collector="(\w+)"', page))
            return page if ran.issuperset(BACKGROUND) else None
        assert self.agent.process.poll() is None, self.agent.output()

    def fetch(self):
        return harness.get('http://127.0.0.1:%d/metrics' % self.port)

    def stop(self):
        if self.agent is not None:
            self.agent.stop()
            self.agent = None

    def kill9(self):
        self.agent.kill9()
        self.agent = None

    def page(self):
        """The agent's samples, by series; the agent runs for this long only."""
        self.start()
        try:
            return samples(self.complete())
        finally:
            self.stop()


def container(name, status, restarts=0, exit_code=0, oom=False, health=None, started='2026-11-05T08:00:00Z'):
    state = {'Status': status, 'Running': status == 'running', 'Restarting': status == 'restarting', 'OOMKilled': oom, 'Dead': False,
             'Pid': 1, 'ExitCode': exit_code, 'Error': '', 'StartedAt': started, 'FinishedAt': '0001-01-01T00:00:00Z'}
    if health:
        state['Health'] = {'Status': health, 'FailingStreak': 0, 'Log': []}
    return {'Id': (name * 64).encode().hex()[:64], 'Name': '/' + name, 'RestartCount': restarts, 'State': state,
            'Config': {'Image': 'local/%s:1' % name, 'Labels': {}}}


def samples(page):
    out = {}
    for line in page.splitlines():
        if line and not line.startswith('#'):
            series, value = line.rsplit(' ', 1)
            out[series] = float(value)
    return out
