#!/usr/bin/python3
"""Random keys, clicks, scrolling, dropped files and sizes on the real window, under Xvfb.

    window.py PROGRAM SECONDS SEED FILE...

FILEs are opened in random order: dropped, or by a new start of the program; copies of them, in a folder of its own,
as the window saves beside what it has open. Every minute a line says how many
actions were made, what memory the program has and had at most, and its longest frame in that minute; a window that does not answer for 30 s, an exit status
other than 0 and a signal end the script with 1, and the last actions are printed, with the stack of a window that
hangs. Needs Xvfb, python3-xlib and gdb.
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

from Xlib import X, XK, Xatom, display, error, protocol
from Xlib.ext import xtest

KEYS = (["Left", "Right", "Up", "Down", "Page_Up", "Page_Down", "Home", "End", "space", "Tab", "Return",
         *["Escape"] * 6, "BackSpace", "Delete", "plus", "minus", "bracketleft", "bracketright", "slash", "question"]
        + list("123456789") + [chr(c) for c in range(ord("a"), ord("z") + 1)] + [f"F{i}" for i in range(1, 13)])
SIZES = [(1280, 720)] * 6 + [(1600, 1000), (800, 600), (640, 400), (320, 200), (1900, 300), (300, 1000), (1920, 1080)]


class Window:
    def __init__(self, program, files, rng, log):
        self.rng, self.files = rng, files
        number = f":{rng.randint(200, 9000)}"
        self.server = subprocess.Popen(["Xvfb", number, "-screen", "0", "1920x1080x24"], stderr=subprocess.DEVNULL)
        time.sleep(2)
        self.environment = dict(os.environ, DISPLAY=number, HOME=tempfile.mkdtemp(prefix="window-"))
        self.program, self.log, self.child, self.window = program, log, None, None
        self.display = display.Display(number)
        self.display.set_error_handler(lambda *_: None)  # of a window that has just ended
        self.atom = self.display.intern_atom
        self.source = self.display.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        self.dragged = ""
        self.done = []
        self.longest = 0

    def start(self):
        arguments = [self.program] + (["open", self.rng.choice(self.files)] if self.rng.random() < 0.5 else [])
        self.done.append("start " + " ".join(arguments[1:]))
        self.window = None  # a file that is refused has none
        self.child = subprocess.Popen(arguments, env=self.environment, stdout=self.log, stderr=self.log)
        for _ in range(1200):
            time.sleep(0.1)
            if self.child.poll() is not None:
                return
            for window in self.display.screen().root.query_tree().children:
                try:
                    if "Tilescope" in (window.get_wm_name() or ""):
                        self.window = window
                        time.sleep(1)
                        self.window.set_input_focus(X.RevertToParent, X.CurrentTime)
                        self.display.sync()
                        return
                except error.XError:
                    pass
        raise SystemExit("no window after 120 s")

    def tell(self, kind, *data):
        """A client message to the window, as the source of a drag sends them."""
        event = protocol.event.ClientMessage(window=self.window, client_type=self.atom(kind),
                                             data=(32, (list(data) + [0] * 5)[:5]))
        self.window.send_event(event)
        self.display.flush()

    def drop(self, path):
        """XDND 5: enter, position, drop; the window then asks for the selection."""
        uri_list = self.atom("text/uri-list")
        self.dragged = "file://" + path.replace("%", "%25").replace(" ", "%20") + "\r\n"
        self.source.set_selection_owner(self.atom("XdndSelection"), X.CurrentTime)
        self.tell("XdndEnter", self.source.id, 5 << 24, uri_list)
        self.tell("XdndPosition", self.source.id, 0, 100 << 16 | 100, X.CurrentTime, self.atom("XdndActionCopy"))
        time.sleep(0.1)
        self.tell("XdndDrop", self.source.id, 0, X.CurrentTime)
        return self.answer(lambda event: event.type == X.ClientMessage
                           and event.client_type == self.atom("XdndFinished"), 30)

    def answer(self, is_it, seconds):
        """Serves what the window asks until an event comes; false where none does."""
        end = time.time() + seconds
        while time.time() < end and self.child.poll() is None:
            while self.display.pending_events():
                event = self.display.next_event()
                if event.type == X.SelectionRequest:
                    event.requestor.change_property(event.property, event.target, 8, self.dragged.encode())
                    event.requestor.send_event(protocol.event.SelectionNotify(
                        time=event.time, requestor=event.requestor, selection=event.selection,
                        target=event.target, property=event.property))
                    self.display.flush()
                if is_it(event):
                    return True
            time.sleep(0.02)
        return self.child.poll() is not None

    def answers(self):
        """Whether the window still takes part: it answers the position of a drag, which is then left. It does so
        between two frames, so that the longest wait is that of the longest frame."""
        asked = time.time()
        self.tell("XdndEnter", self.source.id, 5 << 24, self.atom("text/uri-list"))
        self.tell("XdndPosition", self.source.id, 0, 100 << 16 | 100, X.CurrentTime, self.atom("XdndActionCopy"))
        came = self.answer(lambda event: event.type == X.ClientMessage
                           and event.client_type == self.atom("XdndStatus"), 30)
        self.longest = max(self.longest, time.time() - asked)
        self.tell("XdndLeave", self.source.id)
        return came

    def key(self, name, *with_keys):
        codes = [self.display.keysym_to_keycode(XK.string_to_keysym(one)) for one in [*with_keys, name]]
        for code in codes:
            xtest.fake_input(self.display, X.KeyPress, code)
        for code in reversed(codes):
            xtest.fake_input(self.display, X.KeyRelease, code)

    def act(self):
        rng, roll = self.rng, self.rng.random()
        geometry = self.window.get_geometry()
        place = (rng.randrange(max(geometry.width, 1)), rng.randrange(max(geometry.height, 1)))
        if roll < 0.55:
            name = rng.choice(KEYS)
            held = [] if rng.random() < 0.75 else rng.choice(
                [["Shift_L"], ["Control_L"], ["Alt_L"], ["Control_L", "Shift_L"]])
            if "Control_L" in held and name in "qw":
                return None
            self.key(name, *held)
            what = "+".join([*held, name])
        elif roll < 0.85:
            button = rng.choice([1, 1, 1, 1, 2, 3, 4, 5, 4, 5])
            xtest.fake_input(self.display, X.MotionNotify, x=place[0], y=place[1])
            xtest.fake_input(self.display, X.ButtonPress, button)
            if rng.random() < 0.3:
                xtest.fake_input(self.display, X.MotionNotify, x=rng.randrange(1900), y=rng.randrange(1000))
            xtest.fake_input(self.display, X.ButtonRelease, button)
            what = f"button {button} at {place}"
        elif roll < 0.96:
            xtest.fake_input(self.display, X.MotionNotify, x=place[0], y=place[1])
            what = f"pointer at {place}"
        elif roll < 0.98:
            size = rng.choice(SIZES)
            self.window.configure(x=0, y=0, width=size[0], height=size[1])
            self.window.set_input_focus(X.RevertToParent, X.CurrentTime)
            what = f"size {size}"
        else:
            path = rng.choice(self.files)
            what = f"drop {path}"
            self.done.append(what)
            return self.drop(path)
        self.done.append(what)
        self.display.flush()
        return True

    def megabytes(self):
        with open(f"/proc/{self.child.pid}/status") as status:
            values = dict(line.split(":", 1) for line in status)
        return int(values["VmRSS"].split()[0]) // 1000, int(values["VmHWM"].split()[0]) // 1000


def main():
    program, seconds, seed = os.path.abspath(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    folder = tempfile.mkdtemp(prefix="window-")
    files = []
    for number, path in enumerate(sys.argv[4:]):
        files.append(f"{folder}/{number}-{os.path.basename(path)}")
        shutil.copy(path, files[-1])
    os.chdir(folder)
    rng = random.Random(seed)
    window = Window(program, files, rng, open("window.log", "w"))
    print("in", folder, flush=True)
    began, said, actions, starts, since = time.time(), 0, 0, 0, 0
    failed = ""
    while time.time() < began + seconds and not failed:
        if window.child is None or window.child.poll() is not None:
            # A file that is refused ends the program with 1 before anything is done.
            refused = actions == since and window.child is not None and window.child.returncode == 1
            if window.child is not None and window.child.returncode != 0 and not refused:
                failed = f"exit status {window.child.returncode}"
                break
            window.start()
            starts += 1
            since = actions
            if window.window is None:
                continue
        try:
            if window.act() is False:
                failed = "a dropped file was not taken within 30 s"
            actions += 1
            if actions % 10 == 0 and not window.answers():
                failed = "the window did not answer for 30 s"
        except error.XError:
            time.sleep(0.2)  # the window is gone: the loop sees why
        time.sleep(rng.choice([0, 0, 0.01, 0.05, 0.2]))
        if time.time() > began + 60 * said and window.child.poll() is None:
            print(f"{time.time() - began:6.0f} s  {actions:7} actions  {starts:3} starts  {window.megabytes()} MB"
                  f"  longest frame {window.longest:.2f} s", flush=True)
            window.longest = 0
            said += 1
    print(failed or "no fault", "after", actions, "actions;", starts, "starts")
    if failed:
        print("\n".join(window.done[-200:]), flush=True)
        if window.child.poll() is None:  # where it stands
            subprocess.run(["gdb", "-p", str(window.child.pid), "-batch", "-ex", "thread apply all bt 30"],
                           stderr=subprocess.DEVNULL)
    if window.child.poll() is None:
        window.child.terminate()
    window.server.terminate()
    sys.exit(bool(failed))


main()
