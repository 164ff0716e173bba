"""Field failure O17: a SIGTERM ends the program, however early it comes."""

from __future__ import annotations

import signal
import subprocess
import sys


def test_a_sigterm_while_a_command_is_loaded_ends_it() -> None:
    """Before the worker has a handler of its own a SIGTERM is not left to the kernel, which drops it for process 1."""
    program = (
        "import os, signal, sys\n"
        "from pokdeng.__main__ import run\n"
        "class Loading:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'pokdeng.cli.worker':\n"
        "            os.kill(os.getpid(), signal.SIGTERM)\n"
        "sys.meta_path.insert(0, Loading())\n"
        "sys.argv = ['pokdeng', 'worker']\n"
        "run()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=60)  # noqa: S603 - our own words
    assert done.returncode == 128 + signal.SIGTERM
