"""The four policies of the paper on the same harvest: what each spends, and how old its clients' models get."""

from fallow.experiment import Experiment
from fallow.simulation.engine import Engine

print(f"{'policy':14}{'p_bc':>6}{'units':>10}{'of FedAvg':>11}{'trainings':>11}{'mean age':>10}")
for p in (0.01, 0.1, 1.0):
    spent = {}
    for policy in ("fedavg", "vaoi", "fedbacys", "fedbacys-odd"):
        experiment = Experiment.parse({"energy": {"p": p}, "policy": {"name": policy}, "output": {"events": False}})
        records = list(Engine(experiment))
        spent[policy] = records[-1].energy_total
        age = sum(record.mean_age_delivered for record in records) / len(records)
        starts = sum(record.starts for record in records)
        share = spent[policy] / spent["fedavg"]
        print(f"{policy:14}{p:6}{spent[policy]:10,}{share:11.0%}{starts:11,}{age:10.1f}")
