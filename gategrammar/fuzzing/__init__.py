"""Hypothesis strategies for the tests of whoever reads gate responses (extra ``fuzzing``)."""

from gategrammar.fuzzing._answers import Reply, answers
from gategrammar.fuzzing._cases import Case, Miss, Trajectory
from gategrammar.fuzzing._misses import near_misses
from gategrammar.fuzzing._mutations import mutations
from gategrammar.fuzzing._responses import responses
from gategrammar.fuzzing._trajectories import trajectories

__all__ = ["Case", "Miss", "Reply", "Trajectory", "answers", "mutations", "near_misses", "responses", "trajectories"]
