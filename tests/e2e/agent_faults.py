"""What can befall the played host: for each alert of the fixture kit's rules one fault, as changes to what the agent reads.

A Fault says how the pages before and after it become a history: `minutes` passed since the fault when the rules are asked, `ramp` when
the change came evenly over that time, `step` minutes between samples, `before` minutes of history, `still` the counters that stop
(idle CPU time runs else), `also` the other alerts that such a fault must raise.
"""
import re
import time

from played_host import container


class Fault:
    def __init__(self, happens=None, minutes=10, ramp=False, step=1, before=75, still=None, also=(), kill=False, birth=False,
                 scraper=None, second=None):
        self.happens, self.minutes, self.ramp, self.step, self.before = happens, minutes, ramp, step, before
        self.still, self.also, self.kill, self.birth = still, set(also), kill, birth
        self.scraper = scraper or {}     # series of the scraper, and of programs that are not the agent
        self.second = second             # what is different on a second host that is there from the start


def gpu(pattern, replacement, index=2, **options):
    return Fault(lambda h: h.gpu(index, pattern, replacement), **options)


def tag(name, value, index=2, **options):
    return gpu(r'<%s>[^<]*</%s>' % (name, name), '<%s>%s</%s>' % (name, value, name), index, **options)


def edit(name, pattern, replacement, **options):
    return Fault(lambda h: h.edit('root/' + name, pattern, replacement), **options)


def kernel(line, times=1, **options):
    return Fault(lambda h, ago=60: h.kernel(*[line] * times, seconds_ago=ago), **options)


def xid(code, times=1, address='0000:43:00', **options):
    return kernel("NVRM: Xid (PCI:%s): %d, pid=77, name=python3, Ch 00000008" % (address, code), times, **options)


def put(name, text, **options):
    return Fault(lambda h: h.write('root/' + name, text), **options)


def bmc(state, **options):
    return Fault(lambda h: h.bmc(state), **options)


def disk(name, path, value, **options):
    return Fault(lambda h: h.disk(name, path, value), **options)


NVME, SATA, SAS = 'nvme-samsung-3pct', 'sata-wd-hc550', 'sas-hitachi'
HEALTH = 'nvme_smart_health_information_log'
PROCESS = '<processes><process_info><pid>77</pid><type>C</type><process_name>python3</process_name><used_memory>70000 MiB' \
          '</used_memory></process_info></processes>'


def set_attribute(h, number, raw):
    import json
    file = h.folder / 'smart' / (SATA + '.json')
    report = json.loads(file.read_text())
    for row in report['ata_smart_attributes']['table']:
        if row['id'] == number:
            row['raw'] = {'value': raw, 'string': str(raw)}
    file.write_text(json.dumps(report))


def vanish(h):
    path = h.answers / 'nvidia-smi.xml'
    parts = path.read_text().split('\t<gpu id=')
    path.write_text('\t<gpu id='.join(parts[:-1]) + '</nvidia_smi_log>\n')
    for name in ('nvlink-s.txt', 'nvlink-e.txt'):
        links = h.answers / name
        links.write_text(links.read_text().split('GPU 7:')[0])


def program_fails(h, name, text, code):
    (h.folder / 'bin' / name).write_text('#!/bin/sh\necho "%s"\nexit %d\n' % (text, code))


def bmc_silent(h):
    for name in ('ipmitool', 'ipmi-sensors'):
        program_fails(h, name, 'Could not open device at /dev/ipmi0', 1)


def slowdown_at(h, limit, temperature):
    h.gpu(2, r'<gpu_temp_slow_tlimit_threshold>[^<]*</gpu_temp_slow_tlimit_threshold>',
          '<gpu_temp_slow_threshold>%d C</gpu_temp_slow_threshold>' % limit)
    h.gpu(2, r'<gpu_temp>[^<]*</gpu_temp>', '<gpu_temp>%d C</gpu_temp>' % temperature)


def all_idle(h):
    for index in range(8):
        h.gpu(index, r'<gpu_util>[^<]*</gpu_util>', '<gpu_util>0 %</gpu_util>')


def hung_rank(h):
    h.gpu(2, r'<gpu_util>[^<]*</gpu_util>', '<gpu_util>0 %</gpu_util>')
    h.gpu(2, r'<processes>.*?</processes>', PROCESS)


def capped(h):
    h.gpu(2, r'<current_power_limit>[^<]*<', '<current_power_limit>500.00 W<')
    h.gpu(2, r'<average_power_draw>[^<]*<', '<average_power_draw>480.00 W<')


def nvlinks_down(h):
    h.take('nvlink-s.txt', 'nvidia/written/nvlink-s-two-down.txt')


def fabric_manager(h):
    h.write('root/usr/lib/systemd/system/nvidia-fabricmanager.service', '')
    h.write('root/etc/systemd/system/multi-user.target.wants/nvidia-fabricmanager.service', '')
    h.write('root/run/nvidia-fabricmanager/nv-fabricmanager.pid', '999999\n')


def new_boot(h):
    h.edit('root/proc/stat', r'^btime \d+', 'btime %d' % (time.time() - 120))
    h.write('root/proc/sys/kernel/random/boot_id', '11111111-2222-3333-4444-555555555555\n')


def smart_values(**values):
    def happens(h):
        for key, value in values.items():
            h.disk(NVME, [HEALTH, key], value)
    return happens


def zfs(state):
    return lambda h: h.write('root/proc/spl/kstat/zfs/tank/state', state + '\n')


def nvme_writes(h, host_bytes, media_bytes):
    h.disk(NVME, [HEALTH, 'data_units_written'], h.units_written + host_bytes // 512000)
    h.media_written(10**14 + media_bytes)


CPU_TICKS = re.compile(r'^(cpu\d+ \d+ \d+ \d+ \d+ )(\d+)', re.M)


def waiting_cpus(h):
    path = h.folder / 'root/proc/stat'
    path.write_text(CPU_TICKS.sub(lambda m: m.group(1) + str(int(m.group(2)) + 25 * 60 * 50), path.read_text()))
    h.edit('root/proc/pressure/io', r'^(full .*total=)\d+', r'\g<1>99999999999')


def disk_slow(h):
    """100 000 reads that took 100 ms each."""
    h.edit('root/proc/diskstats', r'(nvme5n1) (\d+) (\d+) (\d+) (\d+)',
           lambda m: '%s %d %s %s %d' % (m.group(1), int(m.group(2)) + 100000, m.group(3), m.group(4), int(m.group(5)) + 10000000))


def vllm(waiting, fast, slow):
    """What vLLM itself says: it is scraped beside the agent."""
    base = 'model_name="llama",job="vllm",instance="gpu:8000"'
    out = {'vllm:num_requests_waiting{%s}' % base: waiting}
    for name in ('time_to_first_token', 'e2e_request_latency'):
        for le, value in (('1', fast), ('5', fast), ('10', fast), ('30', fast + slow), ('+Inf', fast + slow)):
            out['vllm:%s_seconds_bucket{le="%s",%s}' % (name, le, base)] = value
        out['vllm:%s_seconds_count{%s}' % (name, base)] = fast + slow
    return out


DCGM = {'up{job="dcgm",instance="gpu:9400"}': 1, 'DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-0",job="dcgm",instance="gpu:9400"}': 58}
UP = {'up{job="vagt",instance="gpu:9500"}': 1}
SCRAPER = {**UP, **DCGM, **vllm(0, 1000, 0)}

FAULTS = {
    # the agent
    'AgentDown': Fault(minutes=5, scraper={'up{job="vagt",instance="gpu:9500"}': 0}, still=r'(?!up\{).*instance="gpu:9500"'),
    'AgentCollectorFailing': Fault(bmc_silent, minutes=20),
    'AgentDataStale': Fault(minutes=40, still=r'vagt_collector_last_success_timestamp_seconds\{.*collector="smart"'),
    'KernelLogEventsLost': Fault(lambda h: h.kernel('a line', sequence=500), minutes=5),
    # GPUs
    'GPULost': Fault(lambda h: h.take('nvidia-smi.xml', 'nvidia/written/h100x8-one-lost.xml')),
    'GPUCountBelowExpected': Fault(vanish, also={'GPULost'}),
    'GPUXidPage': xid(79, minutes=2), 'GPUXidTicket': xid(94, minutes=2),
    'GPUXidAppStorm': xid(31, 150, minutes=15),
    'GPUXidSameCardOutlier': Fault(lambda h: h.kernel(*['NVRM: Xid (PCI:0000:43:00): 13, pid=1, name=a, x'] * 30), minutes=70, before=120),
    'NVSwitchFatal': kernel('nvidia-nvswitch2: SXid (PCI:0000:07:00.0): 20034, Fatal, Link 28 LTSSM Fault Up', birth=True, minutes=4),
    'GPUEccUncorrectable': gpu(r'<dram_uncorrectable>0<', '<dram_uncorrectable>2<', minutes=4),
    'GPURowRemapPending': tag('remapped_row_pending', 'Yes', minutes=65),
    'GPURowRemapFailure': tag('remapped_row_failure', 'Yes', minutes=2),
    'GPUSramThresholdExceeded': tag('sram_threshold_exceeded', 'Yes', minutes=2),
    'GPUEccCorrectableRate': gpu(r'(<volatile>.*?)<dram_correctable>0<', r'\1<dram_correctable>900<', minutes=450, ramp=True, step=5,
                                 before=60 * 24 * 7),
    'GPUTempMarginLow': tag('gpu_temp_tlimit', '2 C', minutes=3),
    'GPUTempCritical': Fault(lambda h: slowdown_at(h, 89, 90), minutes=3),
    'GPUHwThermalSlowdown': tag('clocks_event_reasons_counters_hw_therm_slowdown', '60000000 us', ramp=True),
    'GPUSwThermalSlowdown': tag('clocks_event_reasons_counters_sw_therm_slowdown', '900000000 us', minutes=35, ramp=True),
    'GPUPowerBrake': tag('clocks_event_reasons_counters_hw_power_brake', '9000000 us', ramp=True),
    'GPUPowerNearLimit': tag('average_power_draw', '760.00 W'),
    'GPUPowerCappedOutOfBand': Fault(capped, minutes=15),
    'GPUIdleButLoaded': Fault(all_idle, minutes=60),
    'GPUIdleDuringJob': Fault(hung_rank, minutes=60),
    'GPUPcieWidthReduced': tag('current_link_width', '8x'),
    'GPUPcieGenReducedUnderLoad': gpu(r'<((?:device_)?current_link_gen)>5<', r'<\1>3<', minutes=15),
    'GPUPcieReplays': tag('replay_counter', '2000', minutes=35, ramp=True),
    'NvlinkDown': Fault(nvlinks_down),
    'NvlinkErrors': Fault(lambda h: h.edit('answers/nvlink-e.txt', r'(Link 3: Recovery Errors): 0', r'\1: 40', count=1), minutes=5),
    'GPURecoveryAction': tag('gpu_recovery_action', 'Reset'),
    'NvidiaDriverMismatch': Fault(lambda h: program_fails(
        h, 'nvidia-smi', 'Failed to initialize NVML: Driver/library version mismatch', 18), minutes=14),
    'NvidiaDriverFleetSkew': Fault(minutes=25 * 60, step=5, second=lambda h: h.edit(
        'answers/nvidia-smi.xml', '<driver_version>[^<]*<', '<driver_version>560.35.05<')),
    'FabricManagerDown': Fault(fabric_manager),
    'DcgmExporterUnhealthy': Fault(minutes=15, scraper={'up{job="dcgm",instance="gpu:9400"}': 0}, still=r'DCGM_.*job="dcgm"'),
    # boot
    'DriverWillNotSurviveReboot': Fault(lambda h: (h.folder / 'root/etc/modprobe.d/blacklist-nouveau.conf').unlink(), minutes=65),
    'UnexpectedReboot': Fault(new_boot, minutes=5),
    'UncleanShutdown': Fault(new_boot, minutes=5, kill=True, also={'UnexpectedReboot'}),
    'KernelRebootRequired': put('run/reboot-required', '', minutes=60 * 24 * 7 + 60, step=5),
    # the host
    'HostMemoryLow': edit('proc/meminfo', r'MemAvailable: +\d+', 'MemAvailable: 8000000'),
    'OOMKillerFired': kernel('Out of memory: Killed process 4242 (python3) total-vm:1kB, anon-rss:1kB, file-rss:0kB', minutes=3),
    'HostSwapping': edit('proc/vmstat', r'^pswpin \d+', 'pswpin 3000000', minutes=20, ramp=True),
    'HostCpuHigh': Fault(minutes=40, still=r'node_cpu_seconds_total'),
    'HostIoWaitHigh': Fault(waiting_cpus, minutes=25, ramp=True, still='node_cpu_seconds_total'),
    'HostLoadHigh': edit('proc/loadavg', r'^\S+ \S+ \S+', '200.00 190.00 180.00', minutes=40),
    'FilesystemFull': edit('syscalls/statfs.tsv', r'^/\t4096\t230000000\t\d+\t\d+', '/\t4096\t230000000\t4000000\t4000000', minutes=15),
    'FilesystemFillingUp': edit('syscalls/statfs.tsv', r'^/\t4096\t230000000\t\d+\t\d+', '/\t4096\t230000000\t18000000\t18000000',
                                minutes=480, ramp=True, step=5, before=420),
    'InodesLow': edit('syscalls/statfs.tsv', r'^(/\t4096\t\d+\t\d+\t\d+\t58720256)\t\d+', r'\1\t1000000', minutes=20),
    'FilesystemReadOnly': edit('proc/1/mountinfo', r' rw,noatime (.*) /dev/nvme2n1 rw', r' ro,noatime \1 /dev/nvme2n1 ro', minutes=5),
    'FilesystemDeviceError': edit('syscalls/statfs.tsv', r'^/mnt/models.*', '/mnt/models\t0\t0\t0\t0\t0\t0\tTIMEOUT', minutes=15),
    'SystemdUnitFailed': Fault(lambda h: h.edit('answers/units.txt', 'cron.service loaded active running',
                                                'cron.service loaded failed failed')),
    'SystemdServiceFlapping': Fault(lambda h: h.edit('answers/services.txt', 'NRestarts=0', 'NRestarts=40'), minutes=40, ramp=True),
    'FileDescriptorsHigh': put('proc/sys/fs/file-nr', '900000\t0\t1000000\n', minutes=15),
    'ClockNotSynchronised': Fault(lambda h: [h.edit('root/syscalls/adjtimex.tsv', r'^return\t.*', 'return\t5'),
                                             h.edit('root/syscalls/adjtimex.tsv', r'^maxerror\t.*', 'maxerror\t17000000')], minutes=20),
    'ClockSkew': edit('syscalls/adjtimex.tsv', r'^offset\t.*', 'offset\t-70000000', minutes=15),
    'ConntrackNearLimit': edit('proc/sys/net/netfilter/nf_conntrack_max', r'\d+', '1'),
    'KernelTrouble': kernel('watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [python3:77]', minutes=4),
    'HungTasks': kernel('INFO: task python3:77 blocked for more than 122 seconds.', minutes=4),
    # chassis, memory, PCIe
    'MemoryUncorrectable': put('sys/devices/system/edac/mc/mc0/ue_count', '1\n', minutes=4),
    'MemoryCorrectableRate': put('sys/devices/system/edac/mc/mc0/dimm1/dimm_ce_count', '900\n', minutes=30),
    'MemoryCorrectableStorm': put('sys/devices/system/edac/mc/mc0/ce_count', '3000\n', minutes=40, ramp=True),
    'PSUFailed': bmc('psu', also={'SELCritical', 'PSURedundancyLost'}),
    'PSURedundancyLost': Fault(lambda h: h.settle('--collector.ipmi.psus-required=6')),
    'FanFailed': bmc('fan', also={'SELCritical'}, minutes=5),
    'SensorCritical': Fault(lambda h: h.edit('answers/ipmi/ipmi-sensors.csv', r'(Inlet Temp,Temperature),Nominal', r'\1,Critical'),
                            minutes=5),
    'SensorWarning': bmc('hot', minutes=15),
    'SELCritical': Fault(lambda h: [(h.answers / 'ipmi' / n).write_bytes((h.kit / 'ipmi/sel' / n).read_bytes())
                                    for n in ('ipmitool-sel-elist.txt', 'ipmitool-sel-info.txt')], minutes=5),
    'SELAlmostFull': Fault(lambda h: h.edit('answers/ipmi/ipmitool-sel-info.txt', r'Free Space .*', 'Free Space       : 100 bytes'),
                           minutes=65),
    'BMCUnreachable': Fault(bmc_silent, minutes=40, also={'AgentCollectorFailing'}),
    'CPUThermalThrottle': put('sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count', '40\n', minutes=8),
    'HwmonCritical': put('sys/devices/pci0000:00/0000:02:00.0/nvme/nvme0/hwmon/hwmon2/temp1_input', '99000\n', minutes=5),
    'PcieAerFatal': edit('sys/bus/pci/devices/0000:43:00.0/aer_dev_fatal', r'TOTAL_ERR_FATAL 0', 'TOTAL_ERR_FATAL 1', minutes=4),
    'PcieAerCorrectable': edit('sys/bus/pci/devices/0000:43:00.0/aer_dev_correctable', r'TOTAL_ERR_COR \d+', 'TOTAL_ERR_COR 5000',
                               minutes=5),
    # disks
    'SmartFailing': disk(SATA, ['smart_status', 'passed'], False, minutes=2),
    'SmartCriticalWarning': disk(NVME, [HEALTH, 'critical_warning'], 16, minutes=2),
    'NvmeWear': Fault(smart_values(percentage_used=88), minutes=65),
    'NvmeWearCritical': Fault(smart_values(percentage_used=101), minutes=15),
    'NvmeWearRate': Fault(smart_values(percentage_used=60), minutes=60 * 24 * 15, step=5, ramp=True),
    'NvmeWriteAmplification': Fault(lambda h: nvme_writes(h, 4 * 10**12, 40 * 10**12), minutes=60 * 24, step=5, ramp=True),
    'SmartMediaErrors': Fault(smart_values(media_errors=7), minutes=5),
    'SmartReallocatedGrowing': Fault(lambda h: set_attribute(h, 5, 8), minutes=65),
    'DiskLatencyAnomaly': Fault(disk_slow, minutes=20, ramp=True),
    'DiskIOErrors': kernel('blk_update_request: I/O error, dev sda, sector 42 op 0x0:(READ) flags 0x0', minutes=4),
    'NvmeResets': kernel('nvme nvme3: I/O 42 QID 7 timeout, reset controller', 4, birth=True, minutes=10),
    'RaidDegraded': Fault(lambda h: [h.write('root/sys/block/md0/md/degraded', '1\n'),
                                     h.edit('root/proc/mdstat', r'nvme1n1p2\[1\]', 'nvme1n1p2[1](F)'),
                                     h.edit('root/proc/mdstat', r'\[2/2\] \[UU\]', '[2/1] [U_]')]),
    'ZfsPoolUnhealthy': Fault(zfs('DEGRADED'), minutes=4),
    # the network
    'LinkDown': Fault(lambda h: [h.write('root/sys/class/net/ens10np0/carrier', '0\n'),
                                 h.write('root/sys/class/net/ens10np0/operstate', 'down\n')], minutes=4),
    'LinkFlapping': edit('sys/class/net/ens10np0/carrier_changes', r'\d+', '99', minutes=4),
    'LinkSpeedDropped': put('sys/class/net/ens10np0/speed', '100000\n'),
    'RoceCongestionOrLoss': put('sys/class/infiniband/mlx5_0/ports/1/hw_counters/local_ack_timeout_err', '900\n', minutes=25, ramp=True),
    'FecUncorrectable': Fault(lambda h: h.write('ethtool.tsv', 'ens10np0\trx_err_lane_0_phy\t40\n'), minutes=20, ramp=True),
    'BondDegraded': Fault(lambda h: h.write('root/sys/class/net/ens1f1np1/bonding_slave/mii_status', 'down\n')),
    # containers, and vLLM's own page
    'ContainerRestartLoop': Fault(lambda h: h.containers([container('trainer', 'restarting', restarts=9),
                                                          container('vllm', 'running', health='healthy')]), minutes=5),
    'ContainerOOMKilled': Fault(lambda h: h.containers([container('trainer', 'exited', exit_code=137, oom=True),
                                                        container('vllm', 'running', health='healthy')]), minutes=2),
    'ContainerUnhealthy': Fault(lambda h: h.containers([container('trainer', 'running'),
                                                        container('vllm', 'running', health='unhealthy')])),
    'VllmQueueBacklog': Fault(minutes=15, scraper=vllm(40, 1000, 0)),
    'VllmHighTTFT': Fault(minutes=20, scraper=vllm(0, 1000, 900), ramp=True, also={'VllmHighLatency'}),
    'VllmHighLatency': Fault(minutes=20, scraper=vllm(0, 1000, 900), ramp=True, also={'VllmHighTTFT'}),
}


def count_column(name, row, column, add):
    """Adds to a column of a file that has a line of names and a line of numbers (/proc/net/snmp, netstat)."""
    def happens(h):
        path = h.folder / 'root' / name
        lines = path.read_text().splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith(row + ':') and column in line.split())
        place = lines[at].split().index(column)
        numbers = lines[at + 1].split()
        numbers[place] = str(int(numbers[place]) + add)
        lines[at + 1] = ' '.join(numbers)
        path.write_text('\n'.join(lines) + '\n')
    return happens


def several(*steps):
    return lambda h: [step(h) for step in steps]


def net_device(**add):
    """Adds to the counters of ens10np0 in /proc/net/dev."""
    places = {'rx_bytes': 0, 'rx_packets': 1, 'rx_errs': 2, 'rx_drop': 3, 'tx_bytes': 8, 'tx_packets': 9}

    def happens(h):
        path = h.folder / 'root/proc/net/dev'
        lines = path.read_text().splitlines()
        for i, line in enumerate(lines):
            device, _, rest = line.partition(':')
            if device.strip() == 'ens10np0':
                numbers = [int(n) for n in rest.split()]
                for key, value in add.items():
                    numbers[places[key]] += value
                lines[i] = device + ': ' + ' '.join(map(str, numbers))
        path.write_text('\n'.join(lines) + '\n')
    return happens


FAULTS.update({
    'ListenOverflows': Fault(count_column('proc/net/netstat', 'TcpExt', 'ListenOverflows', 900), minutes=15, ramp=True),
    'TcpRetransHigh': Fault(several(count_column('proc/net/snmp', 'Tcp', 'OutSegs', 100000),
                                    count_column('proc/net/snmp', 'Tcp', 'RetransSegs', 9000)), minutes=30, ramp=True),
    'SoftnetDrops': Fault(lambda h: h.edit('root/proc/net/softnet_stat', r'^(\S{8}) \S{8}', r'\1 0000ffff', count=1), minutes=22, ramp=True),
    'InterfaceErrors': Fault(net_device(rx_packets=1000000, rx_errs=5000), minutes=25, ramp=True),
    'InterfaceDrops': Fault(net_device(rx_packets=100000, rx_drop=5000), minutes=30, ramp=True),
    'InterfaceSaturated': Fault(net_device(rx_bytes=int(49e9 * 60 * 25)), minutes=25, ramp=True),
})

# The documented rules, with what makes them fire; RULES.md of the kit says of three that it should not.
DOCUMENTED = {
    'GPUTempCritical': tag('gpu_temp', '91 C', minutes=3),
    'GPUThermalThrottling': tag('clocks_event_reasons_counters_hw_therm_slowdown', '60000000 us', ramp=True),
    'GPUECCUncorrectable': gpu(r'<dram_uncorrectable>0<', '<dram_uncorrectable>2<', minutes=4),
    'GPUXIDError': xid(79, minutes=3),
    'GPUPowerEnvelopeExceeded': tag('average_power_draw', '631.00 W'),
    'GPUIdleDuringWork': tag('gpu_util', '0 %', minutes=15),
    'HostMemoryLow': edit('proc/meminfo', r'MemAvailable: +\d+', 'MemAvailable: 8000000'),
    'OOMKillerFired': edit('proc/vmstat', r'^oom_kill \d+', 'oom_kill 1', minutes=3),
    'ContainerRestartLoop': Fault(lambda h: h.containers([container('trainer', 'running', started='2026-11-20T08:00:00Z')]), minutes=13),
    'vLLMQueueBacklog': Fault(scraper=vllm(40, 1000, 0)),
    'vLLMHighLatency': Fault(minutes=20, scraper=vllm(0, 1000, 900), ramp=True),
}
