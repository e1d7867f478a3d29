"""What is checked of broken input, by name; a case is a name and a seed."""

from tests.damaged import files, protocol

CHECKS = {
    "answer": protocol.check_answer,
    "judged": protocol.check_judged,
    "hello": protocol.check_hello,
    "session": protocol.check_session,
    "sweep": files.check_sweep,
    "paper": files.check_paper,
    "paper command": files.check_paper_command,
}
_WRITTEN = {"sweep": files.written_sweep}


def prepared(name, folder):
    """A function of the seed; it raises where the property does not hold."""
    check = CHECKS[name]
    if name in _WRITTEN:
        content = _WRITTEN[name](folder)
        return lambda seed: check(folder, content, seed)
    return (lambda seed: check(folder, seed)) if name == "paper command" else check
