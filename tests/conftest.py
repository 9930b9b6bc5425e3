"""What all tests share: the Hypothesis profile."""

from hypothesis import HealthCheck, settings

# No deadline and no health check on speed: they measure the machine, and no test may depend on how busy that is.
settings.register_profile("gategrammar", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gategrammar")
