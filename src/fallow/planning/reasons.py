"""The answer of a plan in sentences: the smallest sizes, or why no size grants the wish."""

import numpy as np

from fallow.planning.answers import MONTHS, Month, Smallest
from fallow.planning.node import Node
from fallow.planning.search import Sizes, Tried, meets
from fallow.planning.sizes import Costs
from fallow.planning.weather import STEPS, Weather


def describe_answer(
    node: Node,
    costs: Costs,
    weather: Weather,
    tried: Tried,
    sizes: Sizes,
    months: tuple[Month, ...],
    battery: Smallest,
    panel: Smallest,
) -> tuple[str, ...]:
    """Returns the answer in sentences.

    Args:
        node: The description.
        costs: Of it.
        weather: What was lived through.
        tried: The given device first.
        sizes: That were tried to begin with.
        months: Of the given device; the year last.
        battery: The smallest for the given panel.
        panel: The smallest for the given battery.
    """
    wish = f"{node.wish.trainings_per_day:g} trainings a day"
    where = _where(node, months)
    good = bool(meets(node, tried.reached[:1])[0])
    first = (
        f"The device as given starts {tried.reached[0]:.3g} trainings a day {where}, and {wish} "
        f"{'are' if good else 'were'} wished: {'granted' if good else 'not granted'}."
    )
    if not meets(node, tried.reached).any():
        best = int(np.argmax(tried.reached))
        reached = (
            f"No size that was tried grants {wish}: the most is {tried.reached[best]:.3g}, with "
            f"{joules_in_words(float(tried.candidates.batteries[best]))} and {tried.candidates.panels[best] / STEPS:g} "
            f"times the panel; {_why(node, costs, weather, sizes)}."
        )
        return first, reached
    return first, _battery_sentence(node, wish, battery), _panel_sentence(wish, panel)


def joules_in_words(joules: float) -> str:
    """Returns an energy with a prefix that suits it.

    Examples:
        >>> joules_in_words(0.0123), joules_in_words(250.0), joules_in_words(123_456.0)
        ('12.3 mJ', '250 J', '123 kJ')
    """
    for size, unit in ((1e6, "MJ"), (1e3, "kJ"), (1.0, "J"), (1e-3, "mJ")):
        if abs(joules) >= size:
            return f"{joules / size:.3g} {unit}"
    return f"{joules * 1e6:.3g} µJ" if joules else "0 J"


def _where(node: Node, months: tuple[Month, ...]) -> str:
    if node.wish.met_in == "on-average":
        return "over the year"
    worst = min(months[:-1], key=lambda month: month.trainings_per_day)
    return f"in the worst month, {worst.month}"


def _battery_sentence(node: Node, wish: str, battery: Smallest) -> str:
    if battery.size is None:
        return (
            f"No battery that was tried, up to {joules_in_words(battery.too_small or 0)}, grants {wish} with the given "
            f"panel: {battery.reached:.3g} is the most."
        )
    if battery.too_small is not None:
        below = f"; {joules_in_words(battery.too_small)} is too small"
    else:
        below = ", the smallest on the list" if node.search.batteries else ", which holds just one training"
    return f"The smallest battery for {wish} with the given panel stores {joules_in_words(battery.size)}{below}."


def _panel_sentence(wish: str, panel: Smallest) -> str:
    if panel.size is None:
        return (
            f"No panel that was tried, up to {panel.too_small:g} times the given one, grants {wish} with the given "
            f"battery: {panel.reached:.3g} is the most."
        )
    below = f"; {panel.too_small:.3g} is too small" if panel.too_small is not None else ", the smallest that was tried"
    return f"The smallest panel for {wish} with the given battery has {panel.size:.3g} times the given size{below}."


def _why(node: Node, costs: Costs, weather: Weather, sizes: Sizes) -> str:
    """Returns why no size grants the wish: the first limit that is plain from the numbers."""
    device, wish = node.device, node.wish.trainings_per_day
    largest = float(sizes.batteries.max())
    if largest * (1 - device.cutoff) < device.train_joules:
        return (
            f"none can hold one training of {joules_in_words(device.train_joules)} above its cut-off, so the device "
            "can never train"
        )
    fitting = costs.most_trainings_a_day * node.policy.selected
    if fitting < wish:
        return (
            f"only {fitting:.3g} fit into a day, because each fills {costs.train_slots} and its upload "
            f"{costs.upload_slots} slots of {node.slot_seconds:g} s"
            + (f" and {node.policy.selected:g} of the rounds are the device's" if node.policy.selected < 1 else "")
            + "; shorten slot_seconds or train_seconds"
        )
    counted = weather.units[weather.warm_up * weather.slots_per_round :]
    rounds = counted.reshape(weather.rounds, -1).sum(axis=1, dtype=np.int64)
    harvest = np.bincount(weather.months, weights=rounds, minlength=len(MONTHS))
    if not harvest.sum():
        return "nothing is harvested at all"
    days = weather.month_days
    dark = [name for name, units, own in zip(MONTHS, harvest, days, strict=True) if own and not units]
    if dark and node.wish.met_in == "every-month":
        return f"nothing is harvested in {_list(dark)}, and no battery that was tried lasts so long"
    need = wish * (device.train_joules + device.transmit_joules)
    with np.errstate(invalid="ignore", divide="ignore"):
        power = costs.scale.joules(1) * harvest / weather.years / days * (sizes.panels.max() / STEPS)
    month = int(np.nanargmin(power)) if node.wish.met_in == "every-month" else -1
    daily = float(power[month]) if month >= 0 else float(np.nansum(power * days) / days.sum())
    if daily * device.efficiency < need:
        return (
            f"the largest panel harvests {joules_in_words(daily)} a day "
            f"{'in ' + MONTHS[month] if month >= 0 else 'over the year'}, and so many trainings take "
            f"{joules_in_words(need)}"
        )
    return "idle drain, losses and full batteries take the rest"


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
