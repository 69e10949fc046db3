#!/usr/bin/env python3
"""vagt-agent's BMC collector against Debian's openipmi simulator over the LAN: healthy, a fan that stops, a power supply of four lost,
the event log filling, the BMC hanging and coming back; in each state beside the real prometheus-ipmi-exporter, which asks the same BMC.

Skips, loudly, where ipmi_sim or ipmitool is missing.
"""
import contextlib, os, re, shutil, signal, socket, subprocess, tempfile, unittest, urllib.error, urllib.request

import harness

USER = ['-I', 'lanplus', '-H', '127.0.0.1', '-U', 'ipmiusr', '-P', 'test', '-C', '3', '-N', '1', '-R', '1']
FANS, PSUS = range(1, 5), range(1, 5)


def name_bytes(name):
    return [0xc0 | len(name), *name.encode()]


def record(kind, number, body):
    whole = [number, 0, 0x51, kind, len(body), *body]
    return 'main_sdr_add 0x20 ' + ' '.join('0x%02x' % b for b in whole)


def fan_record(number, name):
    """A full record: revolutions, 100 to a step."""
    return record(1, number, [0x20, 0, number, 29, number, 0x7f, 0x68, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0x12, 0, 0, 100, 0, 0, 0, 0, 0,
                              0, 80, 0xff, 0, 0xff, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, *name_bytes(name)])


def psu_record(number, name):
    """A compact record: states of a power supply."""
    return record(2, number, [0x20, 0, number, 10, number, 0x7f, 0x68, 8, 0x6f, 0xff, 0, 0xff, 0, 0xff, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0,
                              0, 0, 0, *name_bytes(name)])


def emulation():
    lines = ['mc_setbmc 0x20', 'mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr', 'sel_enable 0x20 1000 0x0a']
    for fan in FANS:
        lines += [f'sensor_add 0x20 0 {fan} 4 1', f'sensor_set_value 0x20 0 {fan} 80 0', fan_record(fan, f'FAN{fan}')]
    for psu in PSUS:
        lines += [f'sensor_add 0x20 0 {10 + psu} 8 0x6f', f'sensor_set_bit 0x20 0 {10 + psu} 0 1 0', psu_record(10 + psu, f'PSU{psu} Status')]
    on = 'enable scanning per-state 000000000000000 000000000000000 000000000000000 000000000000000'
    lines += [f'sensor_set_event_support 0x20 0 {number} {on}' for number in [*FANS, *(10 + psu for psu in PSUS)]]
    return '\n'.join(lines + ['mc_enable 0x20', ''])


LAN = '''name "bmc"
set_working_mc 0x20
startlan 1
  addr 127.0.0.1 %d
  priv_limit admin
  allowed_auths_callback none md2 md5 straight
  allowed_auths_user none md2 md5 straight
  allowed_auths_operator none md2 md5 straight
  allowed_auths_admin none md2 md5 straight
  guid a123456789abcdefa123456789abcdef
endlan
user 1 true "" "test" user 10 none md2 md5 straight
user 2 true "ipmiusr" "test" admin 10 none md2 md5 straight
'''


class Simulator:
    def __init__(self, directory):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind(('127.0.0.1', 0))
            self.port = s.getsockname()[1]
        for name, text in (('lan.conf', LAN % self.port), ('bmc.emu', emulation())):
            with open(os.path.join(directory, name), 'w') as f:
                f.write(text)
        self.process = subprocess.Popen(['ipmi_sim', '-c', 'lan.conf', '-f', 'bmc.emu', '-s', directory], cwd=directory,
                                        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.arguments = [*USER, '-p', str(self.port)]

    def tell(self, command):
        self.process.stdin.write(command.encode() + b'\n')
        self.process.stdin.flush()

    def ask(self, *words):
        return subprocess.run(['ipmitool', *self.arguments, *words], capture_output=True, text=True, timeout=30)

    def stop(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()


EXPORTER_PROGRAM = shutil.which('prometheus-ipmi-exporter')
# What a module of both exporters is called, and where FreeIPMI needs to be told of the simulator's ways.
EXPORTER = '''modules:
  sim:
    user: ipmiusr
    pass: test
    driver: LAN_2_0
    privilege: admin
    timeout: 6000
    workaround_flags: [opensesspriv]
    collectors: [ipmi, sel, bmc]
'''
STATES = ('healthy', 'fan failed', 'supply lost', 'event log filling', 'hanging', 'back')
# A module for each state, since no BMC is asked twice within 30 s.
AGENT = ''.join('[sim%d]\nuser = ipmiusr\npassword_file = PASSWORD\nprivilege = administrator\ncipher_suite = 3\n' % i
                for i in range(len(STATES)))
# FreeIPMI numbers sensors by their record, ipmitool by their number: compared by name.
BOTH = ('ipmi_up', 'ipmi_fan_speed_rpm', 'ipmi_fan_speed_state', 'ipmi_sensor_state', 'ipmi_sel_logs_count', 'ipmi_sel_free_space_bytes',
        'ipmi_temperature_celsius', 'ipmi_temperature_state')


def by_name(page):
    out = {}
    for line in page.splitlines():
        series, _, value = line.rpartition(' ')
        name, _, labels = series.partition('{')
        if name not in BOTH:
            continue
        key = re.search(r'(?:name|collector)="([^"]*)"', labels)
        out[name, key.group(1) if key else ''] = float(value)
    return out


class BmcTest(unittest.TestCase):
    def setUp(self):
        for program in ('ipmi_sim', 'ipmitool'):
            if shutil.which(program) is None:
                self.skipTest(f'SKIPPED: {program} is not installed; nothing was asked of a BMC')
        self.directory = tempfile.mkdtemp(prefix='vagt-bmc-')
        self.bmc = Simulator(self.directory)
        harness.wait_until('the simulator answers', lambda: self.bmc.ask('mc', 'info').returncode == 0, 60)

    def tearDown(self):
        self.bmc.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def page(self):
        """The agent's page, each family's samples by their text."""
        run = subprocess.run([os.path.join(harness.BIN, 'vagt-agent'), 'collect', '--collector.disable-defaults', '--collector.ipmi',
                              f'--path.state={self.directory}', '--collector.ipmi.arguments=' + ' '.join(self.bmc.arguments),
                              '--collector.ipmi.psus-required=2'], capture_output=True, text=True, timeout=280)
        return dict(line.rsplit(' ', 1) for line in run.stdout.splitlines() if line and line[0] != '#')

    def serve(self):
        """Both exporters on ports of their own, for as long as the test lasts."""
        for name, text in (('exporter.yml', EXPORTER), ('password', 'test\n'), ('agent.conf', AGENT.replace('PASSWORD', self.directory + '/password'))):
            with open(os.path.join(self.directory, name), 'w') as f:
                f.write(text)
        self.ports = {}
        # FreeIPMI keeps what it learns of a BMC in the user's home.
        home = dict(os.environ, HOME=self.directory)
        for program, flags in ((EXPORTER_PROGRAM, ['--config.file=' + self.directory + '/exporter.yml']),
                               (os.path.join(harness.BIN, 'vagt-agent'), ['--collector.disable-defaults', '--log.level=error',
                                                                          '--path.state=' + self.directory,
                                                                          '--ipmi.config=' + self.directory + '/agent.conf'])):
            port = harness.free_port()
            served = harness.Program([program, *flags, '--web.listen-address=127.0.0.1:%d' % port],
                                     os.path.join(self.directory, os.path.basename(program) + '.log'), home)
            self.addCleanup(served.stop)
            self.ports[os.path.basename(program)] = port

            def answers():
                with contextlib.suppress(urllib.error.URLError, ConnectionError):
                    return harness.get('http://127.0.0.1:%d/' % port)
            harness.wait_until(program + ' serves', answers, 30)

    def asked(self, program, module):
        url = 'http://127.0.0.1:%d/ipmi?module=%s&target=127.0.0.1:%d' % (self.ports[program], module, self.bmc.port)
        with urllib.request.urlopen(url, timeout=120) as answer:
            return answer.read().decode()

    def compare(self, state):
        """The exporter's values of the BMC in this state, all of which are on the agent's page."""
        theirs = by_name(self.asked('prometheus-ipmi-exporter', 'sim'))
        ours = by_name(self.asked('vagt-agent', 'sim%d' % STATES.index(state)))
        for name, value in theirs.items():
            self.assertEqual(ours.get(name), value, (state, name, ours))
        print('%s: all %d values of the exporter are on the agent\'s page' % (state, len(theirs)))
        return theirs

    def test_beside_the_real_exporter(self):
        if EXPORTER_PROGRAM is None:
            self.skipTest('SKIPPED: prometheus-ipmi-exporter is not installed; nothing was compared')
        self.serve()
        self.assertGreater(len(self.compare('healthy')), 12)
        self.bmc.tell('sensor_set_value 0x20 0 2 0 0')
        harness.wait_until('the fan stands', lambda: '| 0 RPM' in self.bmc.ask('sdr', 'elist', 'full').stdout, 60)
        self.assertEqual(self.compare('fan failed')['ipmi_fan_speed_rpm', 'FAN2'], 0)
        self.bmc.tell('sensor_set_bit 0x20 0 13 3 1 0')
        harness.wait_until('the supply has no input', lambda: 'AC lost' in self.bmc.ask('sdr', 'elist', 'compact').stdout, 60)
        self.compare('supply lost')
        with open(os.path.join(self.directory, 'event'), 'w') as f:
            f.write('0x04 0x08 0x0e 0x6f 0x01 0xff 0xff\n' * 60)
        self.assertEqual(self.bmc.ask('sel', 'add', os.path.join(self.directory, 'event')).returncode, 0)
        self.assertGreaterEqual(self.compare('event log filling')['ipmi_sel_logs_count', ''], 60)
        self.bmc.process.send_signal(signal.SIGSTOP)
        self.assertEqual(self.compare('hanging')['ipmi_up', 'ipmi'], 0)
        self.bmc.process.send_signal(signal.SIGCONT)
        harness.wait_until('the simulator answers again', lambda: self.bmc.ask('mc', 'info').returncode == 0, 60)
        self.assertEqual(self.compare('back')['ipmi_up', 'ipmi'], 1)

    def test_a_bmc_through_a_bad_day(self):
        page = self.page()
        self.assertEqual(page.get('ipmi_up{collector="ipmi"}'), '1', page)
        self.assertEqual(page['ipmi_fan_speed_rpm{id="1",name="FAN1"}'], '8000')
        self.assertEqual(page['vagt_ipmi_fan_ok{name="FAN4"}'], '1')
        self.assertEqual(page['vagt_psu_count{state="ok"}'], '4')
        self.assertEqual(page['vagt_psu_redundancy_state'], '0')
        self.assertEqual(page['vagt_collector_success{collector="ipmi"}'], '1')

        self.bmc.tell('sensor_set_value 0x20 0 2 0 0')           # the fan stands
        self.bmc.tell('sensor_set_bit 0x20 0 13 3 1 0')          # a supply loses its input
        harness.wait_until('the sensor has changed', lambda: 'AC lost' in self.bmc.ask('sdr', 'elist', 'compact').stdout, 60)
        page = self.page()
        self.assertEqual(page['ipmi_fan_speed_rpm{id="2",name="FAN2"}'], '0')
        self.assertEqual(page['vagt_psu_input_ok{psu="PSU3"}'], '0')
        self.assertEqual(page['vagt_psu_count{state="ok"}'], '3')
        self.assertEqual(page['vagt_psu_redundancy_margin'], '1')  # three of two needed

        entries = float(page['ipmi_sel_logs_count'])
        event = os.path.join(self.directory, 'event')
        with open(event, 'w') as f:                              # a supply fails: sensor type 8, offset 1
            f.write('0x04 0x08 0x0e 0x6f 0x01 0xff 0xff\n' * 5)
        self.assertEqual(self.bmc.ask('sel', 'add', event).returncode, 0)
        page = self.page()
        self.assertEqual(float(page['ipmi_sel_logs_count']), entries + 5)
        self.assertEqual(page['vagt_ipmi_sel_critical_total{sensor_type="Power Supply"}'], '5', page)

        self.bmc.process.send_signal(signal.SIGSTOP)             # hangs
        page = self.page()
        self.assertEqual(page['vagt_collector_success{collector="ipmi"}'], '0')
        self.assertEqual(page['ipmi_up{collector="ipmi"}'], '0')
        self.assertNotIn('vagt_psu_count{state="ok"}', page)     # no value is better than an old one
        self.bmc.process.send_signal(signal.SIGCONT)
        harness.wait_until('the simulator answers again', lambda: self.bmc.ask('mc', 'info').returncode == 0, 60)
        self.assertEqual(self.page()['vagt_psu_count{state="ok"}'], '3')


if __name__ == '__main__':
    unittest.main(verbosity=2)
