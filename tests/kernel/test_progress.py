"""What takes long says so on standard error, where a person reads it, and leaves nothing behind."""

import io
import threading
from types import SimpleNamespace

import pytest

import symacct
from symacct.kernel import deadline as module
from symacct.kernel.deadline import progress


class Terminal(io.StringIO):
    """Standard error as a person has it; `seen` says that something was written."""

    def __init__(self):
        super().__init__()
        self.seen = threading.Event()

    def isatty(self):
        return True

    def write(self, text):
        self.seen.set()
        return super().write(text)


@pytest.fixture
def terminal(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=screen, modules={}))
    monkeypatch.setattr("symacct.kernel.deadline._QUIET_SECONDS", 0)
    monkeypatch.setattr("symacct.kernel.deadline._PACE_SECONDS", 0.001)
    return screen


def test_the_innermost_is_shown_with_its_share_and_erased_at_the_end(terminal):
    with progress("outside"), progress("inside", total=2000) as advance:
        advance(1500)
        terminal.seen.clear()
        assert terminal.seen.wait(10)
    assert "inside: 1,500 of 2,000, 0 s" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[2K")
    assert not module._screen.tasks


def _settled():
    """The number of threads when the one that shows progress has seen that nothing is left."""
    for thread in threading.enumerate():
        if thread.name == "progress":
            thread.join(10)
    return threading.active_count()


def test_many_quick_tasks_start_one_thread(terminal, monkeypatch):
    """A thread for each of them cost ten times the question that it watched."""
    _settled()
    monkeypatch.setattr("symacct.kernel.deadline._PACE_SECONDS", 3)
    begun = []
    monkeypatch.setattr(threading.Thread, "start", lambda thread: begun.append(thread))
    for _ in range(100):
        with progress("quick"):
            pass
    monkeypatch.undo()
    assert len(begun) == 1
    begun[0].start()
    _settled()
    assert not begun[0].is_alive()


def test_what_another_thread_does_is_shown_after_the_first_is_done(terminal):
    with progress("first"):
        second = progress("second")
        second.__enter__()
    terminal.seen.clear()
    assert terminal.seen.wait(10)
    second.__exit__(None, None, None)
    assert "second: 0 s" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[2K")


def test_it_ends_with_an_error_too_and_its_thread_is_gone(terminal):
    before = _settled()

    @progress("failing")
    def failing():
        assert terminal.seen.wait(10)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert _settled() == before
    assert not module._screen.tasks


def test_what_is_quick_writes_nothing(terminal, monkeypatch):
    monkeypatch.setattr("symacct.kernel.deadline._QUIET_SECONDS", 3600)
    assert symacct.Gaussian(2).epsilon("1e-5", 6).epsilon > 0
    assert terminal.getvalue() == ""


def test_nothing_is_written_for_a_program(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=screen, modules={}))
    monkeypatch.setattr("symacct.kernel.deadline._QUIET_SECONDS", 0)
    with progress("anything", total=1) as advance:
        advance(1)
    assert screen.getvalue() == ""


@pytest.mark.parametrize("gone", [None, io.StringIO()])
def test_there_may_be_no_standard_error(monkeypatch, gone):
    if gone is not None:
        gone.close()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=gone, modules={}))
    with progress("anything"):
        pass


def test_a_cell_of_a_notebook_shows_it_and_is_empty_in_the_end():
    """Run by a kernel's own shell: of what it shows there is one output, and nothing is left."""
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat")
    cell = """
import time
from symacct.kernel import deadline as module
module._QUIET_SECONDS, module._PACE_SECONDS = 0, 0.001
shown = []
write = module._Cell.__call__
module._Cell.__call__ = lambda self, line: shown.append(line) or write(self, line)
with module.progress("long", total=2000) as advance:
    advance(1500)
    while not shown:
        time.sleep(0.001)
print(shown[0])
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    nbclient.NotebookClient(notebook, kernel_name="python3", timeout=60).execute()
    line, printed = notebook.cells[0].outputs
    assert line["data"] == {"text/plain": ""}
    assert printed["text"] == "long: 1,500 of 2,000, 0 s\n"
