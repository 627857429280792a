"""What the tests of recordings share: a program run with a time limit and a log, under tilescope capture, and tables."""
import json
import os
import signal
import subprocess
import sys
import time


def run(command, log, seconds=400):
    """Runs a command and writes what it said to the file `log`. Gives its status (124 where it took longer), standard
    output and standard error, and how many seconds it took. What it started ends with it."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                               start_new_session=True)
    late = False
    try:
        out, error = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        late = True
        os.killpg(process.pid, signal.SIGKILL)
        out, error = process.communicate()
    took = time.perf_counter() - start
    with open(log, "w") as file:
        file.write(out + "\n--- standard error\n" + error)
    status = 124 if late else process.returncode
    if late:
        error += f"\nit took more than {seconds} s"
    return subprocess.CompletedProcess(command, status, out, error), took


def captured(tilescope, command, log, *options, seconds=400):
    """Runs a command under tilescope capture. Gives the list of launches as the document that --json prints, {} where there
    is none, and how the run ended; what the program itself printed is in its standard error."""
    done, took = run([tilescope, "capture", "--json", *options, "--", *command], log, seconds)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        return {}, done, took
    with open(os.path.splitext(log)[0] + ".json", "w") as file:
        file.write(done.stdout)
    return document, done, took


def recordings_of(document):
    """Each launch of such a document that was to be recorded, with its row."""
    return [(row, one) for row in document.get("launches", []) for one in row["recordings"]]


def last_line(text):
    return (text.strip().splitlines() or ["nothing said"])[-1]


def said(table, failed):
    """Prints a table, its first row the heads, and what failed; gives the exit status."""
    widths = [max(len(str(row[i])) for row in table if i < len(row)) for i in range(len(table[0]))]
    for row in table:
        print("  ".join(str(cell).ljust(widths[i]) for i, cell in enumerate(row)).rstrip())
    for line in failed:
        print("FAILED", line)
    sys.stdout.flush()
    return bool(failed)
