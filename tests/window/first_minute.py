#!/usr/bin/python3
"""Walks a newcomer's first minute in the real window, under Xvfb, and saves a picture of each stop.

    first_minute.py PROGRAM FOLDER [--size WxH] [--theme light|dark] [--press KEYS]

PROGRAM starts in an empty home and is walked by Page Down alone, from three matrices over the race to the first
question; FOLDER gets 1.png, 2.png, ..., of the race one more at its end. KEYS, as xdotool names them, are pressed
before the first picture: "l" for lecture mode. Needs Xvfb, xdotool and import (ImageMagick). tests/window/app_first_test.cpp holds what is shown.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

STOPS = 7   # of the lesson, the last of which asks
RACE = 6    # this one races
READS = 0.7  # seconds after a key until what it shows stands still
PLAYS = 13  # seconds that the race takes, and a little more


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--press", default="")
    parser.add_argument("--theme", default="light")
    options = parser.parse_args()
    width, height = options.size.split("x")
    os.makedirs(options.folder, exist_ok=True)
    display = f":{random.randint(200, 9000)}"
    server = subprocess.Popen(["Xvfb", display, "-screen", "0", f"{width}x{height}x24", "-noreset"],
                              stderr=subprocess.DEVNULL)
    child = None
    with tempfile.TemporaryDirectory(prefix="newcomer-") as home:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")}
        environment.update(DISPLAY=display, HOME=home, LIBGL_ALWAYS_SOFTWARE="1")
        environment.pop("WAYLAND_DISPLAY", None)

        def tool(*arguments):
            return subprocess.run(["xdotool", *arguments], env=environment, capture_output=True, text=True,
                                  check=False).stdout.strip()

        def picture(name):
            subprocess.run(["import", "-window", "root", os.path.join(options.folder, name + ".png")],
                           env=environment, check=True)

        try:
            time.sleep(1)
            child = subprocess.Popen([options.program, "--theme", options.theme], env=environment)
            window = ""
            for _ in range(300):
                window = tool("search", "--onlyvisible", "--name", "Tilescope").split("\n")[0]
                if window:
                    break
                time.sleep(0.1)
            if not window:
                sys.exit("The window did not open.")
            tool("windowmove", window, "0", "0", "windowsize", window, width, height, "windowfocus", window,
                 "mousemove", "2", "2")
            time.sleep(2)
            for key in options.press.split():
                tool("key", key)
                time.sleep(READS)
            for stop in range(1, STOPS + 1):
                time.sleep(READS)
                picture(str(stop))
                if stop == RACE:
                    time.sleep(PLAYS)
                    picture(f"{stop}-end")
                if child.poll() is not None:
                    sys.exit(f"The program ended with {child.returncode} at stop {stop}.")
                tool("key", "Next")
        finally:
            if child is not None:
                child.terminate()
                child.wait()
            server.terminate()
            server.wait()


main()
