"""The strategy: who is known, who comes later, who is away, and what it refuses."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from flwr.app import ConfigRecord
from flwr.serverapp.strategy import Strategy

from fallow.aggregation import All, Mifa, Update, aggregate
from fallow.aggregation.buffered import Buffered
from fallow.errors import ConfigError, PluginError
from fallow.flower import FallowStrategy
from fallow.flower.experiment import Scorer, experiment_strategy
from fallow.flower.server.federation import FederationDirectory, begin_federation, first_policy_memory
from fallow.policies import POLICIES, needs_of
from fallow.policies.vaoi import VAoI
from tests.flower.federations import FIRST_NODE, Wire, federate, small, weights


class Presence(Wire):
    """A grid whose nodes are there in some rounds only."""

    def __init__(self, experiment: object, root: Path, present: dict[int, set[int]]) -> None:
        super().__init__(experiment, root)  # type: ignore[arg-type]
        self.present = present
        self.strategy: FallowStrategy | None = None

    def get_node_ids(self) -> list[int]:
        assert self.strategy is not None
        assert self.strategy.federation is not None
        return sorted(FIRST_NODE + client for client in self.present[self.strategy.federation.epoch])


def run(present: list[set[int]], root: Path, **settings: object) -> tuple[FallowStrategy, Presence]:
    experiment = small(epochs=len(present), energy={"p": 1.0}, battery={"initial": 10}, **settings)
    grid = Presence(experiment, root / "nodes", dict(enumerate(present)))
    strategy = experiment_strategy(experiment, root / "server", patience=0.0, reply_seconds=0.5)
    grid.strategy = strategy
    strategy.start(grid, Scorer(experiment).initial(), len(present))
    return strategy, grid


def test_it_is_a_strategy_of_flower_s() -> None:
    assert isinstance(FallowStrategy(VAoI()), Strategy)


@pytest.mark.parametrize("policy", ["vaoi", "fedbacys-odd", "round-robin", "vaoi-parameters"])
@pytest.mark.parametrize("aggregation", ["received", "all", "buffered", "mifa", "fedvarp"])
def test_clients_may_come_later_and_stay_away(policy: str, aggregation: str, tmp_path: Path) -> None:
    everyone = set(range(6))
    present = [{1, 4}, {1, 4}, everyone, {0, 5}, everyone]
    strategy, grid = run(present, tmp_path, policy={"name": policy}, aggregation={"name": aggregation})
    federation = strategy.federation
    assert federation is not None
    assert federation.roster.names == [f"client-00000{number}" for number in (1, 4, 0, 2, 3, 5)]
    assert [row["answered"] for row in federation.rounds] == [2, 2, 6, 2, 6]
    for epoch, there in enumerate(present):
        assert {client for client, _ in grid.orders.get(epoch, [])} <= there
    assert sum(row["updates"] for row in federation.rounds) > 4
    assert np.isfinite(weights(strategy)).all()


@pytest.mark.parametrize(
    "policy", sorted(name for name in POLICIES if needs_of(POLICIES[name]()).in_words() != "batteries")
)
def test_what_a_policy_sees_of_clients_that_come_and_go_fits_those_who_are_there(policy: str, tmp_path: Path) -> None:
    everyone = set(range(6))
    strategy, _ = run([{1, 4}, everyone, {0, 5}, everyone], tmp_path, policy={"name": policy})
    federation = strategy.federation
    assert federation is not None
    assert [row["answered"] for row in federation.rounds] == [2, 6, 2, 6]
    took_part = federation.participation
    assert took_part.selections.shape == (6,)
    assert took_part.selections.sum() == sum(row["selected"] for row in federation.rounds)
    assert (took_part.deliveries > 0).sum() == (took_part.last_staleness >= 0).sum()


def test_ages_belong_to_names_and_not_to_nodes(tmp_path: Path) -> None:
    everyone = set(range(6))
    strategy, _ = run([everyone, everyone - {3}, everyone], tmp_path, policy={"k": 1, "mu": 0.0})
    assert strategy.federation is not None
    ages = dict(zip(strategy.federation.roster.names, strategy.federation.policy_state.age.tolist(), strict=True))
    assert sorted(ages.values())[-1] == 3
    assert ages["client-000003"] <= 2  # it was not there for one of the rounds


def test_the_rounds_are_written_as_a_table(tmp_path: Path) -> None:
    experiment = small(epochs=2)
    strategy, _ = federate(experiment, tmp_path)
    assert strategy.federation is not None
    header, *rows = (tmp_path / "server" / "rounds.csv").read_text().splitlines()
    assert header.startswith("round,connected,answered,selected,mean_battery,orders,trained,declined,silent,updates")
    assert [row.split(",")[:3] for row in rows] == [["1", "6", "6"], ["2", "6", "6"]]
    assert "f1" in header


@pytest.mark.parametrize("resumes", [False, True])
def test_the_rule_hears_of_data_that_came_to_a_client_it_knows(resumes: bool, tmp_path: Path) -> None:
    federation, rule = begin_federation({"w": np.zeros(3, dtype=np.float32)}, All()), All()
    federation.roster.admit([(1, "a", 40), (2, "b", 40)], {1, 2})
    federation.grow(VAoI(), rule)
    federation.policy_state.age[:] = [3, 5]
    if resumes:
        FederationDirectory(tmp_path, VAoI(), rule, "the same").write(federation)
        again = FederationDirectory(tmp_path, VAoI(), rule, "the same").read()
        assert again is not None
        federation = again
    federation.roster.admit([(1, "a", 400), (2, "b", 40)], {1, 2})
    federation.grow(VAoI(), rule)
    assert federation.aggregation_state.samples == 440
    assert federation.policy_state.age.tolist() == [3, 5]
    federation.roster.admit([(1, "a", 10), (3, "c", 5)], {1, 2, 3})
    federation.grow(VAoI(), rule)
    assert federation.aggregation_state.samples == 55
    assert federation.policy_state.age.tolist() == [3, 5, 0]


def test_what_a_rule_gathered_outlives_data_that_came() -> None:
    federation, rule = begin_federation({"w": np.zeros(3, dtype=np.float32)}, Buffered()), Buffered()
    federation.roster.admit([(1, "a", 40)], {1})
    federation.grow(VAoI(), rule)
    federation.aggregation_state = replace(federation.aggregation_state, count=2, samples=80)
    federation.roster.admit([(1, "a", 400)], {1})
    federation.grow(VAoI(), rule)
    assert (federation.aggregation_state.count, federation.aggregation_state.samples) == (2, 80)


def test_what_is_remembered_of_clients_outlives_new_clients_and_a_restart(tmp_path: Path) -> None:
    rule, start = Mifa(memory="float16"), np.zeros(3, dtype=np.float32)
    federation = begin_federation({"w": start}, rule)
    federation.roster.admit([(1, "a", 40)], {1})
    federation.grow(VAoI(), rule)
    federation.aggregation_state, _ = aggregate(
        rule, federation.aggregation_state, start, [Update(0, 0, start + 2, start, 40)]
    )
    FederationDirectory(tmp_path, VAoI(), rule, "the same").write(federation)
    again = FederationDirectory(tmp_path, VAoI(), rule, "the same").read()
    assert again is not None
    again.roster.admit([(1, "a", 60), (2, "b", 60)], {1, 2})
    again.grow(VAoI(), rule)
    assert again.aggregation_state.rows.row(0).tolist() == [2, 2, 2]
    assert again.aggregation_state.rows.row(1).tolist() == [0, 0, 0]
    assert again.aggregation_state.mean().tolist() == [1, 1, 1]


def test_what_it_would_ignore_it_refuses() -> None:
    with pytest.raises(ConfigError, match="no train_config"):
        FallowStrategy(VAoI()).start(None, None, train_config=ConfigRecord({"lr": 0.1}))  # type: ignore[arg-type]


class FailsAtFirst:
    """A part of somebody's own, whose first step goes wrong."""

    def init(self, *_: object) -> None:
        raise ZeroDivisionError("by zero")

    def select(self, *_: object) -> None:
        raise NotImplementedError

    def combine(self, *_: object) -> None:
        raise NotImplementedError


def test_a_memory_that_a_part_of_somebody_s_own_can_t_begin_is_a_sentence_with_its_place() -> None:
    with pytest.raises(PluginError, match=r"rule 'FailsAtFirst' failed in init: .*test_strategy.py, line \d+"):
        begin_federation({"w": np.zeros(3, dtype=np.float32)}, FailsAtFirst())  # type: ignore[arg-type]
    with pytest.raises(PluginError, match=r"policy 'FailsAtFirst' failed in init: .*test_strategy.py, line \d+"):
        first_policy_memory(FailsAtFirst(), 3)  # type: ignore[arg-type]
