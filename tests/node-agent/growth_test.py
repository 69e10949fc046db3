#!/usr/bin/env python3
"""A day of scrapes, as fast as they come: vagt-agent's memory and open files do not grow.

  growth_test.py AGENT [--hours 24] [--interval 15]

Says memory after a warm-up and at the end. Exit status 1: more than 256 KiB or any descriptor was added.
"""
import argparse, http.client, os, socket, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument('agent')
parser.add_argument('--hours', type=float, default=24)
parser.add_argument('--interval', type=float, default=15)
args = parser.parse_args()

with socket.socket() as s:
    s.bind(('127.0.0.1', 0))
    port = s.getsockname()[1]
state = tempfile.mkdtemp(prefix='vagt-growth-')
agent = subprocess.Popen([args.agent, f'--web.listen-address=127.0.0.1:{port}', f'--path.state={state}'],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def facts():
    status = open(f'/proc/{agent.pid}/status').read()
    return int(status.split('VmRSS:')[1].split()[0]), len(os.listdir(f'/proc/{agent.pid}/fd'))


def scrape(connection):
    connection.request('GET', '/metrics')
    answer = connection.getresponse()
    page = answer.read()
    assert answer.status == 200 and page.endswith(b'\n'), page[-100:]


try:
    for attempt in range(200):
        try:
            connection = http.client.HTTPConnection('127.0.0.1', port, timeout=20)
            scrape(connection)
            break
        except OSError:
            time.sleep(0.05)
    total = int(args.hours * 3600 / args.interval)
    warm_up = max(total // 10, 50)
    for n in range(total):
        if n % 100 == 99:  # a scraper that comes anew, as after its own restart
            connection.close()
            connection = http.client.HTTPConnection('127.0.0.1', port, timeout=20)
        scrape(connection)
        if n == warm_up:
            warm = facts()
    end = facts()
    print('%d scrapes: %d KiB and %d descriptors after %d of them, %d KiB and %d at the end' % (total, *warm, warm_up, *end))
    sys.exit(1 if end[0] > warm[0] + 256 or end[1] > warm[1] else 0)
finally:
    agent.terminate()
    agent.wait(10)
