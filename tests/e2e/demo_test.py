"""What ./dev up does once the programs are built: a page of metrics is served and a test page arrives."""
import os
import subprocess
import unittest

from harness import BIN, PATIENCE, ROOT, EndToEnd, free_port


class Demo(EndToEnd):
    def test_the_demo_serves_pages_and_stops(self):
        port = free_port()
        env = dict(os.environ, VAGT_PORT=str(port), VAGT_AGENT_PORT=str(free_port()), VAGT_DEMO_DATA=self.folder, VAGT_UP_SECONDS='6')
        done = subprocess.run([os.path.join(ROOT, 'packaging', 'demo', 'run.sh'), BIN], env=env, capture_output=True, text=True,
                              timeout=90 * PATIENCE)
        output = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, output)
        self.assertIn('If you can read this, pages arrive.', output)
        self.assertIn('vagtd is at http://127.0.0.1:%d' % port, output)
        self.assertIn('Stopped.', output)


if __name__ == '__main__':
    unittest.main(verbosity=2)
