"""The sides that ``simulators.py`` compares, each a process of its own: ``python -m peers NAME …`` with a pipe.

``loop``, ``pfl``, ``flower`` and ``fallow`` have a function ``play(turns, load, setup)`` that makes the rounds. The
other modules are the runner's.
"""
