"""The four policies of the paper on the same harvest and the same skewed data: what each learns, and what it costs."""

from fallow.config import Experiment
from fallow.engine import Engine

SETTINGS = {
    "epochs": 150,
    "energy": {"p": 0.05},
    "data": {"name": "digits", "alpha": 0.1},
    "sgd": {"lr": 0.05},
    "learning": {"mode": "train", "eval_every": 10},
    "compute": {"strategy": "stacked"},
    "output": {"events": False},
}

print(f"{'policy':14}{'F1':>8}{'best F1':>9}{'units':>9}{'trainings':>11}{'mean age':>10}")
for policy in ("vaoi", "fedavg", "fedbacys", "fedbacys-odd"):
    records = list(Engine(Experiment.parse(SETTINGS | {"policy": {"name": policy}})))
    scores = [record.f1 for record in records if record.f1 is not None]
    age = sum(record.mean_age_delivered for record in records) / len(records)
    starts = sum(record.starts for record in records)
    print(f"{policy:14}{scores[-1]:8.3f}{max(scores):9.3f}{records[-1].energy_total:9,}{starts:11,}{age:10.1f}")
