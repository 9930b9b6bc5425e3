"""What all tests share: the Hypothesis profile, and a start with nothing remembered."""

import signal

from hypothesis import HealthCheck, settings

from gategrammar.response import lalr, recogniser

# No deadline and no health check on speed: they measure the machine, and no test may depend on how busy that is.
settings.register_profile("gategrammar", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gategrammar")


# A shell starts what runs in the background with Ctrl-C ignored, and our processes leave that as they find it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionstart() -> None:
    """Forget what is computed once a process: a run that is forked off another one has to compute it itself.

    Mutation testing forks a run for each mutant, and what was computed before would hide the mutants of it.
    """
    for remembered in (lalr.load, recogniser._patterns):
        remembered.cache_clear()
