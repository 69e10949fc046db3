#!/usr/bin/env python3
"""Runs vagt-agent over the recorded hosts, GPUs and kernel logs and compares each page with what is expected.

  run_fixtures.py AGENT SHARED [PART…]      SHARED has agent/fixtures; parts: host nvidia kmsg ipmi smartctl docker nvme

The written hosts' pages differ from node_exporter's own page in two points, and the kit lacks one source: ADJUSTED
below names them, and each page says how many lines were adjusted.

The last line is `N pages right, N wrong`.
"""
import os, pathlib, re, shutil, subprocess, sys, tempfile

import kit_host

agent, shared = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
parts = sys.argv[3:] or ['host', 'nvidia', 'kmsg', 'ipmi', 'smartctl', 'docker', 'nvme']
kit = shared / 'agent' / 'fixtures'
work = pathlib.Path(tempfile.mkdtemp(prefix='vagt-fixtures-'))
counts = [0, 0]


def copy_host(*layers):
    return kit_host.copy_host(kit, tempfile.mkdtemp(dir=work), *layers)


def adjusted(expected):
    """node_exporter, on its own recorded host: sensor labels keep their case, every array has all five states. And its
    udev database is not in the kit, so node_disk_info has no more there than major, minor and rotational."""
    lines, out, changed = expected.read_text().splitlines(), [], 0
    for line in lines:
        new = re.sub(r'(node_hwmon_sensor_label\{.*label=")(composite|tctl)"', lambda m: m[1] + m[2].capitalize() + '"', line)
        if line.startswith('node_disk_info{') and 'udev' not in line:
            new = re.sub(r',?(model|path|revision|serial|wwn)="[^"]*"', '', line)
        match = re.match(r'node_md_state\{device="(\w+)",state="(\w+)"\} 1$', line)
        if match and not any(l.startswith('node_md_state{device="%s"' % match[1]) and l != line for l in lines):
            out += ['node_md_state{device="%s",state="%s"} 0' % (match[1], state)
                    for state in ('active', 'check', 'inactive', 'recovering', 'resync') if state != match[2]]
            changed += 4
        changed += new != line
        out.append(new)
    path = work / 'adjusted.prom'
    path.write_text('\n'.join(out) + '\n')
    return path, changed


def compare(name, expected, flags, extra=()):
    run = subprocess.run([agent, 'collect', *flags], capture_output=True, timeout=60)
    changed = 0
    if name.startswith('host '):
        expected, changed = adjusted(expected)
    page = work / 'page'
    page.write_bytes(run.stdout)
    verdict = subprocess.run([sys.executable, kit / 'compare.py', *extra, expected, page], capture_output=True, text=True)
    good = run.returncode == 0 and verdict.returncode == 0
    counts[0 if good else 1] += 1
    print(('ok    ' if good else 'WRONG ') + name + ': ' + verdict.stdout.strip().splitlines()[-1]
          + (', %d lines adjusted' % changed if changed else ''))
    if not good:
        print('\n'.join('      ' + line for line in verdict.stdout.splitlines()[:int(os.environ.get('SHOW', '12'))]))
        print(run.stderr.decode()[:500])


def only(*names):
    return ['--collector.disable-defaults', *('--collector.' + n for n in names)]


def host_flags(root):
    return [f'--path.procfs={root}/proc', f'--path.sysfs={root}/sys', f'--path.rootfs={root}',
            f'--path.udev.data={root}/none', f'--path.state={root}/var/lib/vagt']


def merged(base, diff):
    """The degraded host's page: the healthy one's with the changed samples over it."""
    absent = {line[8:].strip() for line in diff.read_text().splitlines() if line.startswith('#absent ')}
    samples = {}
    for path in (base, diff):
        for line in path.read_text().splitlines():
            if line and not line.startswith('#'):
                samples[line.rsplit(' ', 1)[0]] = line
    out = work / 'merged.prom'
    out.write_text('\n'.join([line for key, line in samples.items() if key not in absent] + ['#absent ' + k for k in absent]) + '\n')
    return out


def hosts():
    expected = kit / 'expected'
    root = copy_host('node_exporter')
    compare('host node_exporter', expected / 'host-node_exporter.prom', host_flags(root) + [
        '--collector.interrupts', '--collector.processes', '--collector.cpu_vulnerabilities', '--no-collector.netdev',
        '--collector.hwmon.chip-include=(applesmc|asus_nb_wmi|coretemp|hwmon4|ieee80211|nct6779)',
        '--collector.netclass.ignored-devices=(dmz|int)', '--collector.arp.device-exclude=nope',
        '--collector.diskstats.device-exclude=^(z?ram|loop|fd|(h|s|v|xv)d[a-z]|nvme\\d+n\\d+p)\\d+$'])
    for name, layers in (('gpu8', ['gpu8']), ('gpu8-degraded', ['gpu8', 'gpu8-degraded'])):
        root = copy_host(*layers)
        calls = kit / 'hosts' / 'gpu8' / 'syscalls'
        page = expected / 'host-gpu8.prom'
        if name != 'gpu8':
            page = merged(page, expected / 'host-gpu8-degraded.diff.prom')
        mtimes = root / 'mtimes.tsv'
        compare('host ' + name, page, host_flags(root) + [
            f'--fixture.statfs={calls}/statfs.tsv', f'--fixture.uname={calls}/uname.tsv',
            f'--fixture.adjtimex={calls}/adjtimex.tsv', f'--fixture.mtimes={mtimes}'])


def find_nvidia(stem, kind):
    """The recorded output an expected page was made from."""
    if kind == 'csv':
        for candidate in ('written/%s.csv' % stem, '%s.csv' % stem):
            if (kit / 'nvidia' / candidate).exists():
                return kit / 'nvidia' / candidate
        model, _, load = stem.partition('.')
        for path in sorted((kit / 'nvidia' / model).glob('*')) if (kit / 'nvidia' / model).is_dir() else []:
            if path.name == load + '.query-gpu.csv':
                return path
    for directory in ('xml', 'written'):
        if (kit / 'nvidia' / directory / (stem + '.xml')).exists():
            return kit / 'nvidia' / directory / (stem + '.xml')
    return None


def nvidia():
    names = work / 'hostname'
    names.write_text('testhost\n')
    for path in sorted((kit / 'expected').glob('nvidia-*.prom')):
        stem = path.name[len('nvidia-'):-len('.prom')]
        flags = only('gpu') + [f'--fixture.hostname={names}']
        if stem.startswith('nvlink-'):
            written = kit / 'nvidia' / 'written'
            status = written / stem.replace('nvlink-', 'nvlink-s-', 1)
            compare('nvidia ' + stem, path, flags + [f'--fixture.nvlink={status}.txt', f'--fixture.nvlink={written}/nvlink-e-errors.txt'])
            continue
        stem, _, kind = stem.rpartition('.')
        source = find_nvidia(stem, kind)
        if source is None:
            counts[1] += 1
            print('WRONG nvidia %s: no recorded output found' % path.name)
            continue
        compare('nvidia %s.%s' % (stem, kind), path, flags + [f'--fixture.nvidia-smi={source}'])


def kmsg():
    for path in sorted((kit / 'expected').glob('kmsg-*.prom')):
        stem = path.name[len('kmsg-'):-len('.prom')]
        source = next((kit / 'kmsg').glob(stem + '.*'))
        # That page lists only what the log has; counters that begin at 0 are on ours as well.
        extra = ['--extra-ok'] if stem.startswith('public-xid13') else []
        compare('kmsg ' + stem, path, only('kernel_log') + [f'--fixture.kmsg={source}'], extra)


def ipmi():
    for path in sorted((kit / 'expected').glob('ipmi-*.prom')):
        stem = path.name[len('ipmi-'):-len('.prom')]
        compare('ipmi ' + stem, path, only('ipmi') + [f'--fixture.ipmi={kit / "ipmi" / stem}'])


def smartctl():
    for path in sorted((kit / 'expected').glob('smartctl-*.prom')):
        stem = path.name[len('smartctl-'):-len('.prom')]
        compare('smartctl ' + stem, path, only('smart') + [f'--fixture.smartctl={kit / "smartctl" / stem}.json'])


def docker():
    compare('docker written', kit / 'expected' / 'docker-written.prom', only('containers') + [f'--fixture.docker={kit / "docker"}'])


def nvme():
    compare('nvme ocp', kit / 'expected' / 'nvme-ocp.prom', only('smart') + [f'--fixture.nvme={kit / "nvme" / "ocp-smart-add-log.json"}'])


try:
    for part in parts:
        {'host': hosts, 'nvidia': nvidia, 'kmsg': kmsg, 'ipmi': ipmi, 'smartctl': smartctl, 'docker': docker, 'nvme': nvme}[part]()
finally:
    shutil.rmtree(work, ignore_errors=True)
print('%d pages right, %d wrong' % tuple(counts))
sys.exit(1 if counts[1] else 0)
