"""What nvidia-smi knows: names, and the clock of the multiprocessors while they work."""
import statistics
import subprocess
import threading
import time

QUERY = ["nvidia-smi", "--query-gpu=clocks.sm,power.draw", "--format=csv,noheader,nounits",
         "-lms", "20"]
LONG_ENOUGH_S = 0.2  # a march that samples are sure to meet
BUSY = 0.9  # of the largest power that was seen: the GPU is marching


def ask_gpu(fields):
    """One line for each GPU; nothing where there is no nvidia-smi."""
    query = ["nvidia-smi", "--query-gpu=" + fields, "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


class Clock:
    """Samples of the clock and the power, from when it is made until it is closed."""

    def __init__(self):
        self.samples = []  # (seconds, MHz, W)
        try:
            self.process = subprocess.Popen(QUERY, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True)
        except OSError:
            self.process = None
            return
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            try:
                mhz, watt = (float(word) for word in line.split(","))
            except ValueError:
                continue
            self.samples.append((time.monotonic(), mhz, watt))

    def during(self, begin, end):
        """Hz while the GPU was busiest between two times, or None."""
        inside = [s for s in self.samples if begin <= s[0] <= end]
        if not inside:
            return None
        most = max(watt for _, _, watt in inside)
        return 1e6 * statistics.median(mhz for _, mhz, watt in inside if watt >= BUSY * most)

    def close(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
