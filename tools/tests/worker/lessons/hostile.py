"""A lesson that does what no lesson should."""

import ctypes
import os
import signal
import sys
import threading
import time

WRITE_EVERYWHERE = """
import os
for pipe in range(3, 1024):
    try:
        os.write(pipe, b"A" * 4096)
    except OSError:
        pass
"""


def fine():
    return "fine"


def leave():
    sys.exit("bye")


def interrupt():
    raise KeyboardInterrupt


def vanish():
    os._exit(3)


def segfault():
    print("about to", end="")
    ctypes.string_at(0)


def abort():
    os.abort()


def loop():
    while True:
        pass


def sleep_in_c():
    ctypes.CDLL(None).sleep(60)


def deaf():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    loop()


def print_for_ever():
    while True:
        print("x" * 100_000)


def print_a_megabyte():
    print("x" * 2**20 + "the end")
    sys.stderr.write("e" * 2**20)
    return 1


def print_from_c():
    libc = ctypes.CDLL(None)
    print("python", flush=True)
    libc.printf(b"from C\n")


def fork():
    return os.fork() == 0


def fork_and_leave():
    if os.fork() == 0:
        sys.exit()
    return "parent"


def fork_and_die():
    if os.fork() == 0:
        time.sleep(60)
    os.kill(os.getpid(), signal.SIGKILL)


def child():
    pid = os.fork()
    if pid == 0:
        time.sleep(60)
    return pid


def wait(seconds):
    time.sleep(seconds)


def own_number():
    return os.getpid()


def close_output():
    sys.stdout.close()  # which leaves its file descriptor open
    os.closerange(1, 3)


def close_everything():
    os.closerange(0, 256)


def write_everywhere():
    exec(WRITE_EVERYWHERE)


def let_a_child_write_everywhere():
    return os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-S", "-c", WRITE_EVERYWHERE])


def answer_twice():
    import struct

    header = b'[["tuple", "answer", 42, null, ["list"]], {"regions": [], "changed": [], "arrays": []}]'
    for pipe in range(3, 1024):
        try:
            os.write(pipe, struct.pack("<4sQII", b"gpu1", 0, len(header), 0) + header)
        except OSError:
            pass


def forge(reply):
    """Answer with these bytes from now on."""
    from tools import wire

    def send(write, number, header, buffers):
        write(memoryview(reply.replace(b"NUMBER__", number.to_bytes(8, "little"))))

    wire.send = send


def lie_in_wait():
    threading.Timer(0.05, os._exit, [0]).start()


class Sly(Exception):
    def __str__(self):
        raise ValueError("no words")


def sly():
    raise Sly


def long_words():
    raise ValueError("x" * 2**20)


class Odd:
    def __getattr__(self, name):
        raise RuntimeError(name)


def odd():
    return Odd()


def bad_signature(*, x=Odd()):
    return 1
