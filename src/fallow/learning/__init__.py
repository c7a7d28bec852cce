"""Learning: local training of one client and of a cohort, the probe, aggregation, evaluation.

A model's weights are one flat NumPy vector of float32 wherever they leave a module of this package; PyTorch stays
inside.
"""
