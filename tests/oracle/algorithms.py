"""Algorithms 1 and 2 of the paper, transcribed client by client and slot by slot.

Written from the paper and from docs/reading-the-paper.md alone. Plain Python, no arrays, no shared code with
the engine, and no randomness of its own: whatever is random comes in with the `Case`.

In the comments, "Alg. 1, 15" is a numbered line of the paper's listing, "step 5" a step of our reading's
slot, and "reading 7" a row of its table of decisions. Clients are counted from 0. Models are not carried: of
w_i only "in training" and "unsent" matter here, of M_i only whether it reached μ.
"""

import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True)
class Case:
    """One run: the world, the policy and everything that chance decides."""

    clients: int  # N
    epochs: int  # T
    slots_per_epoch: int  # S
    capacity: list[int]  # E_max of each client
    initial: list[int]  # E_i(0)
    train_cost: list[int]  # κ_i >= 1, in units
    train_slots: list[int]  # κ_i in slots; in the paper the same number
    transmit_cost: list[int]
    transmit_slots: list[int]  # 1 in the paper
    probe_cost: list[int]  # 0: a probe is free
    listen_cost: list[int]  # from here to `wake` 0 in the paper, and an efficiency of 1: docs/physics.md
    download_cost: list[int]
    efficiency: list[Fraction]  # η_i
    self_discharge: list[Fraction]  # λ_i, in a slot
    idle: list[Fraction]  # units a slot
    cutoff: list[int]
    wake: list[int]
    starts_per_epoch: int  # 0: no limit
    harvest: list[list[int]]  # C: [global slot][client], units
    significant: list[list[bool]]  # [epoch][client]: M_i >= μ, the true one
    tie: list[list[float]]  # [epoch][client]: u_i in [0, 1); among equals the smaller goes first
    policy: str
    reserve: bool = False  # start only with the energy to send as well, and in time to arrive in the epoch
    k: int = 10
    choice: str = "top-k"  # or 'sample', 'exp' (vaoi)
    reset: str = "selected"  # or 'aggregated' (vaoi, oldest)
    groups: int = 5  # G (fedbacys, fedbacys-odd)
    grouping: str = "battery"  # or 'fixed'
    turns: str = "window"  # or 'deadline', 'across-epochs'


@dataclass
class Trace:
    """What happened, in full."""

    battery: list[list[int]] = field(default_factory=list)  # [slot][client], after all debits of the slot
    action: list[list[str]] = field(default_factory=list)  # [slot][client]: start, train, upload or idle
    selected: list[list[bool]] = field(default_factory=list)  # [epoch][client]: N(t)
    policy_age: list[list[int]] = field(default_factory=list)  # [epoch][client]: X_i(t); vaoi and oldest only
    age_selected: list[list[int]] = field(default_factory=list)  # [epoch][client]: X_i(t+1), q = selected
    age_delivered: list[list[int]] = field(default_factory=list)  # [epoch][client]: X_i(t+1), q = received
    uploads: list[tuple[int, int, int]] = field(default_factory=list)  # (slot, client, staleness in epochs)
    starts: list[tuple[int, int]] = field(default_factory=list)  # (slot, client), the slot of the first batch
    finishes: list[tuple[int, int]] = field(default_factory=list)  # (slot, client), the slot of the last batch
    harvested: list[int] = field(default_factory=list)  # totals of each client; harvested is gross
    overflow: list[int] = field(default_factory=list)
    spent_train: list[int] = field(default_factory=list)
    spent_transmit: list[int] = field(default_factory=list)
    spent_probe: list[int] = field(default_factory=list)
    spent_listen: list[int] = field(default_factory=list)
    spent_download: list[int] = field(default_factory=list)
    spent_idle: list[int] = field(default_factory=list)
    conversion_loss: list[int] = field(default_factory=list)
    leakage: list[int] = field(default_factory=list)
    asleep: list[list[bool]] = field(default_factory=list)  # [slot][client]
    spendable: list[list[int]] = field(default_factory=list)  # [epoch][client]: what ClientSelect sees of E_i
    start_cost: list[list[int]] = field(default_factory=list)  # [epoch][client]: and of κ_i
    happened: Counter[str] = field(default_factory=Counter)  # how often what is rare came up
    short_epochs: list[int] = field(default_factory=list)  # epochs that found i idle and short of a training's energy


@dataclass
class Client:
    """The state of one client between two slots."""

    battery: int  # E_i
    batches_left: int = 0  # > 0: in training, L_i = 1 for that many more slots
    unsent: bool = False  # holds a trained w_i that the server has not received
    start_epoch: int = 0  # the epoch in which its latest training started
    starts_this_epoch: int = 0
    asleep: bool = False
    reached: bool = False  # hears the server in this epoch
    has_model: bool = False  # has received w(t) in this epoch
    upload_slots_left: int = 0  # > 0: an upload is under way for that many more slots
    leak_fraction: Fraction = Fraction(0)  # of a unit, carried
    conversion_fraction: Fraction = Fraction(0)
    chances: int = 0  # FedBacys-Odd's counter, never reset
    counted_window: int | None = None  # the first slot of the window that FedBacys-Odd counted last
    group: int = 0  # FedBacys' group
    policy_age: int = 0  # X_i as the policy keeps it
    age_selected: int = 0  # X_i with the true M_i, q = selected
    age_delivered: int = 0  # X_i with the true M_i, q = received


def simulate(case: Case) -> Trace:
    """Run Algorithm 1 over the whole horizon."""
    # Alg. 1, inputs
    clients = [Client(battery=case.initial[i]) for i in range(case.clients)]
    trace = empty_trace(case)
    selected: list[bool] = []  # N(t)
    received: list[bool] = []  # whether an update of i arrived in epoch t
    grows: list[bool] = []  # whether X_i grows in epoch t, in the policy's eyes

    # Alg. 1, 1
    for s in range(case.slots_per_epoch * case.epochs):
        t = s // case.slots_per_epoch  # Alg. 1, 2
        slot_in_epoch = s % case.slots_per_epoch
        action = ["idle"] * case.clients
        if slot_in_epoch == 0:
            # An upload in step 3 of the epoch's first slot already belongs to epoch t.
            received = [False] * case.clients
            for client in clients:
                client.starts_this_epoch = 0
                client.has_model = False

        # Alg. 1, 3
        for i in range(case.clients):
            client = clients[i]

            # Step 1, harvest (Alg. 1, 4-5; reading 8)
            charge(case, client, s, i, trace)

            if case.policy == "unlimited":
                continue  # no physical policy: it neither trains nor uploads by steps 2, 3 and 5

            # As the epoch begins: neither in training nor with an update to send, and too little energy to train
            if slot_in_epoch == 0 and client.batches_left == 0 and not client.unsent and not client.upload_slots_left:
                trace.short_epochs[i] += spendable(case, client, i) < case.train_cost[i] + case.download_cost[i]

            # Step 2, train (Alg. 1, 6-7), also in one's sleep
            if client.batches_left > 0:
                trace.happened["training while asleep"] += client.asleep
                action[i] = "train"
                batch_train(client, s, i, trace)

            # Step 3, upload (Alg. 1, 8-9; readings 2 and 3)
            elif client.unsent and not client.asleep and client.battery - case.transmit_cost[i] >= case.cutoff[i]:
                client.battery -= case.transmit_cost[i]
                trace.spent_transmit[i] += case.transmit_cost[i]
                client.unsent = False
                client.upload_slots_left = case.transmit_slots[i]

            if client.upload_slots_left > 0:
                action[i] = "upload"
                client.upload_slots_left -= 1
                last_slot = slot_in_epoch == case.slots_per_epoch - 1
                trace.happened["upload over an epoch's edge"] += last_slot and client.upload_slots_left > 0
                if client.upload_slots_left == 0:
                    received[i] = True
                    trace.uploads.append((s, i, t - client.start_epoch))

        # Step 4, select (Alg. 1, 10-13). The broadcast of lines 11-12 moves no energy.
        if slot_in_epoch == 0:
            for i in range(case.clients):
                listen(case, clients[i], i, trace)
            grows = probe(case, t, clients, trace)
            trace.spendable.append([view_of_battery(case, clients[i], i) for i in range(case.clients)])
            trace.start_cost.append([start_cost(case, clients[i], i) for i in range(case.clients)])
            if case.policy in ("vaoi", "oldest"):
                trace.policy_age.append([client.policy_age for client in clients])
            selected = client_select(case, t, clients)
            trace.selected.append(selected)

        # Alg. 1, 14
        for i in range(case.clients):
            client = clients[i]
            if not selected[i]:
                continue

            if case.policy == "unlimited":
                unlimited_client(case, s, i, action, received, trace)
                continue

            # Step 5, start (Alg. 1, 15)
            uploads_now = action[i] == "upload"
            if may_start(case, client, i, uploads_now) and policy_starts(case, client, i, s):
                # Alg. 1, 16: L_i = 1 for the slots s ... s+κ-1, all κ units are debited at once
                action[i] = "start"
                if not client.has_model:
                    client.battery -= case.download_cost[i]
                    trace.spent_download[i] += case.download_cost[i]
                    trace.happened["download at the start"] += case.download_cost[i] > 0
                    client.has_model = True
                elif case.download_cost[i] > 0:
                    trace.happened["start with a model already paid for"] += 1
                client.battery -= case.train_cost[i]
                trace.spent_train[i] += case.train_cost[i]
                client.batches_left = case.train_slots[i]
                client.start_epoch = t
                client.starts_this_epoch += 1
                trace.starts.append((s, i))
                # Alg. 1, 17-18: the first batch runs in this slot
                batch_train(client, s, i, trace)

        # Step 6, aggregate (Alg. 1, 19-21): the epoch ends, and the ages X_i(t+1) are known
        if slot_in_epoch == case.slots_per_epoch - 1:
            for i in range(case.clients):
                client = clients[i]
                # Alg. 2, 5-6 and 9, reading 7. Under 'selected' line 9 could be evaluated in step 4 already;
                # nothing looks at X_i(t+1) before the selection of epoch t+1, so both readings do it here.
                q = received[i] if case.reset == "aggregated" else selected[i]
                client.policy_age = next_age(client.policy_age, grows[i], q)
                # Recorded for every policy, with the true M_i
                significant = case.significant[t][i]
                client.age_selected = next_age(client.age_selected, significant, selected[i])
                client.age_delivered = next_age(client.age_delivered, significant, received[i])
            trace.age_selected.append([client.age_selected for client in clients])
            trace.age_delivered.append([client.age_delivered for client in clients])

        trace.battery.append([client.battery for client in clients])
        trace.asleep.append([client.asleep for client in clients])
        trace.action.append(action)

    trace.finishes.sort()  # with κ = 1 step 5 finishes trainings too, after those of step 2
    return trace  # Alg. 1, 22


def charge(case: Case, client: Client, s: int, i: int, trace: Trace) -> None:
    """Step 1 of slot s for client i: what leaks, what is harvested, what the device draws, and whether it sleeps."""
    # 1a: what was stored when the slot began leaks
    leaking = rounded_up(client.battery * case.self_discharge[i]) + client.leak_fraction
    client.leak_fraction = leaking - math.floor(leaking)
    client.battery -= math.floor(leaking)
    trace.leakage[i] += math.floor(leaking)
    trace.happened["fraction leaked"] += client.leak_fraction > 0
    # 1b: a share of the harvest reaches the battery
    gross = case.harvest[s][i]
    reaching = gross * case.efficiency[i] + client.conversion_fraction
    client.conversion_fraction = reaching - math.floor(reaching)
    trace.harvested[i] += gross
    trace.happened["fraction converted"] += client.conversion_fraction > 0
    trace.happened["carried unit converted"] += math.floor(reaching) > gross * case.efficiency[i]
    trace.conversion_loss[i] += gross - math.floor(reaching)
    # 1c: which holds no more than E_max
    before = client.battery
    client.battery = min(before + math.floor(reaching), case.capacity[i])
    trace.overflow[i] += before + math.floor(reaching) - client.battery
    # 1d: who is awake draws what is due in this slot
    if not client.asleep:
        due = math.floor((s + 1) * case.idle[i]) - math.floor(s * case.idle[i])
        drawn = min(due, client.battery)
        client.battery -= drawn
        trace.spent_idle[i] += drawn
        trace.happened["emptied by idle drain"] += drawn > 0 and client.battery == 0
        trace.happened["idle drain not met"] += drawn < due
    # 1e: sleep below the cut-off, until the level for waking
    if client.asleep:
        if client.battery >= case.wake[i]:
            client.asleep = False
            trace.happened["woke up"] += 1
    elif client.battery < case.cutoff[i]:
        client.asleep = True


def rounded_up(units: Fraction) -> Fraction:
    """Units to 32 binary places."""
    return Fraction(math.ceil(units * 2**32), 2**32)


def spendable(case: Case, client: Client, i: int) -> int:
    """What client i can spend."""
    return 0 if client.asleep else max(client.battery - case.cutoff[i], 0)


def view_of_battery(case: Case, client: Client, i: int) -> int:
    """What a policy sees of the battery of client i."""
    return spendable(case, client, i) if client.reached else 0


def listen(case: Case, client: Client, i: int, trace: Trace) -> None:
    """Step 4: whether client i hears the server in this epoch, which costs energy."""
    if case.policy == "unlimited":
        client.reached = True
        return
    client.reached = not client.asleep and client.battery - case.listen_cost[i] >= case.cutoff[i]
    if client.reached:
        client.battery -= case.listen_cost[i]
        trace.spent_listen[i] += case.listen_cost[i]
    else:
        trace.happened["awake, and could not pay to listen"] += not client.asleep


def start_cost(case: Case, client: Client, i: int) -> int:
    """The units of a start: a training, and the model where the client has not received it in this epoch."""
    return case.train_cost[i] + (0 if client.has_model else case.download_cost[i])


def batch_train(client: Client, s: int, i: int, trace: Trace) -> None:
    """One batch of client i in slot s (Alg. 1, 23-29)."""
    client.batches_left -= 1
    if client.batches_left == 0:  # Alg. 1, 26: b = κ-1
        client.unsent = True  # Alg. 1, 27
        trace.finishes.append((s, i))


def may_start(case: Case, client: Client, i: int, uploads_now: bool) -> bool:
    """The world's conditions of step 5 for a selected client (Alg. 1, 15)."""
    if client.batches_left > 0:
        return False  # in training
    if client.unsent or client.upload_slots_left > 0:
        return False  # no pending update
    if client.asleep or not client.reached:
        return False
    if uploads_now:
        return False  # T + L <= 1
    if case.starts_per_epoch > 0 and client.starts_this_epoch >= case.starts_per_epoch:
        return False  # reading 4
    return client.battery - start_cost(case, client, i) >= case.cutoff[i]  # sufficient battery


def policy_starts(case: Case, client: Client, i: int, s: int) -> bool:
    """Whether the policy takes a start that the world allows in global slot s. Counts FedBacys-Odd's chances."""
    if case.reserve or case.policy == "reserve":
        if client.battery - case.cutoff[i] < start_cost(case, client, i) + case.transmit_cost[i]:
            return False  # it could train, but not send
        if s % case.slots_per_epoch + case.train_slots[i] + case.transmit_slots[i] - 1 > case.slots_per_epoch - 1:
            return False  # the slots s ... s+κ-1 train, so slot s+κ could begin to send, and it would arrive too late
    if case.policy in ("fedbacys", "fedbacys-odd"):
        if not in_window(case, client, i, s):
            return False
        if case.policy == "fedbacys-odd":
            # Reading 16: one chance a window, trains on the 1st, 3rd, 5th ...
            first = s
            while first > s - window_slots(case) + 1 and in_window(case, client, i, first - 1):
                first -= 1
            if first == client.counted_window:
                return False
            client.counted_window = first
            client.chances += 1
            return client.chances % 2 == 1
    return True


def window_slots(case: Case) -> int:
    """How many slots FedBacys' window to start in has (reading 15)."""
    if case.turns == "window":
        return max(case.slots_per_epoch // case.groups - 1, 1)  # R - 1, and never none
    return 1


def in_window(case: Case, client: Client, i: int, s: int) -> bool:
    """Whether FedBacys' client i may start in global slot s, as far as its present group goes (reading 15)."""
    slot_in_epoch = s % case.slots_per_epoch
    if case.turns == "across-epochs":
        return slot_in_epoch == max(case.slots_per_epoch - 1 - case.train_slots[i], 0)
    if case.turns == "deadline":
        return slot_in_epoch == client.group * max(case.slots_per_epoch - case.train_slots[i], 0) // case.groups
    end = (s + case.train_slots[i]) % case.slots_per_epoch
    share = case.slots_per_epoch // case.groups  # R
    if share >= 2:
        return client.group * share <= end < (client.group + 1) * share - 1  # as printed
    return end == client.group % case.slots_per_epoch  # the fine print: one slot, shared where G > S


def unlimited_client(case: Case, s: int, i: int, action: list[str], received: list[bool], trace: Trace) -> None:
    """The slot of a client under 'unlimited': starts first, delivers last, pays nothing."""
    slot_in_epoch = s % case.slots_per_epoch
    action[i] = "train"
    if slot_in_epoch == 0:
        action[i] = "start"
        trace.starts.append((s, i))
    if slot_in_epoch == case.slots_per_epoch - 1:
        action[i] = "upload"
        trace.finishes.append((s, i))
        trace.uploads.append((s, i, 0))
        received[i] = True


def probe(case: Case, t: int, clients: list[Client], trace: Trace) -> list[bool]:
    """Whether each client's age grows in epoch t, in the policy's eyes (Alg. 2, 7-8; reading 11)."""
    grows: list[bool] = []
    for i in range(case.clients):
        client = clients[i]
        if case.policy == "vaoi":
            both = case.probe_cost[i] + case.download_cost[i]
            if client.reached and client.battery - both >= case.cutoff[i]:
                client.battery -= both
                trace.spent_probe[i] += case.probe_cost[i]
                trace.spent_download[i] += case.download_cost[i]
                client.has_model = True
                grows.append(case.significant[t][i])
            else:
                enough = client.battery - case.probe_cost[i] >= case.cutoff[i]
                trace.happened["probe without its download"] += client.reached and enough
                grows.append(False)  # an unpaid probe: no M_i this epoch
        else:
            grows.append(True)  # 'oldest' counts epochs and looks at no M_i; the others keep no age
    return grows


def next_age(age: int, significant: bool, q: bool) -> int:
    """Eq. (2) and its feature-based form: X_i(t+1) from X_i(t)."""
    q_i = 1 if q else 0
    if significant:
        return (age + 1) * (1 - q_i)
    return age * (1 - q_i)


def client_select(case: Case, t: int, clients: list[Client]) -> list[bool]:
    """N(t), as one flag a client (Alg. 2 for 'vaoi'; the other policies in its place)."""
    everyone = list(range(case.clients))
    tie = case.tie[t]

    if case.policy in ("fedavg", "unlimited", "reserve"):  # reading 17
        return flags(case, everyone)

    if case.policy in ("fedbacys", "fedbacys-odd"):
        return fedbacys_select(case, t, clients)

    if case.policy == "vaoi" and case.choice in ("sample", "exp"):
        return flags(case, race(case, t, clients)[: case.k])

    if case.policy in ("vaoi", "oldest"):
        # Alg. 2, 2-3 and reading 5: p_i grows with X_i, so the k largest X_i
        order = sorted(everyone, key=lambda i: (-clients[i].policy_age, tie[i], i))
        return flags(case, order[: case.k])

    if case.policy == "random-k":
        order = sorted(everyone, key=lambda i: (tie[i], i))
        return flags(case, order[: case.k])

    if case.policy == "fullest-battery":
        order = sorted(everyone, key=lambda i: (-view_of_battery(case, clients[i], i), tie[i], i))
        return flags(case, order[: case.k])

    if case.policy == "round-robin":
        turn = min(case.k, case.clients)
        first = t * turn
        return flags(case, [(first + j) % case.clients for j in range(turn)])

    raise ValueError(f"unknown policy {case.policy!r}")


def race(case: Case, t: int, clients: list[Client]) -> list[int]:
    """All clients in the order in which weighted sampling draws them (Alg. 2, 2; reading 5, 'sample' and 'exp')."""
    tie = case.tie[t]
    oldest = max(client.policy_age for client in clients)
    arrivals: list[tuple[float, float, int]] = []  # (time, u_i, client)
    weightless: list[tuple[float, int]] = []  # (u_i, client)
    for i in range(case.clients):
        age = clients[i].policy_age
        weight = math.exp(age - oldest) if case.choice == "exp" else age
        if weight > 0:
            arrivals.append((-math.log(1.0 - tie[i]) / weight, tie[i], i))
        else:
            weightless.append((tie[i], i))
    arrivals.sort()
    weightless.sort()
    return [i for _, _, i in arrivals] + [i for _, i in weightless]


def fedbacys_select(case: Case, t: int, clients: list[Client]) -> list[bool]:
    """Sorts the clients into their groups when it is time to, and says whose turn epoch t is (reading 15)."""
    tie = case.tie[t]
    if case.grouping == "fixed":
        for i in range(case.clients):
            clients[i].group = i % case.groups
    elif case.turns != "across-epochs" or t % case.groups == 0:
        # By battery, fullest first: every epoch, or when a cycle of G epochs begins
        order = sorted(range(case.clients), key=lambda i: (-view_of_battery(case, clients[i], i), tie[i], i))
        for rank in range(case.clients):
            clients[order[rank]].group = rank * case.groups // case.clients

    if case.turns != "across-epochs":
        return [True] * case.clients
    active = t % case.groups
    return [client.group == active for client in clients]


def flags(case: Case, chosen: list[int]) -> list[bool]:
    """The chosen clients as one flag a client."""
    is_chosen = [False] * case.clients
    for i in chosen:
        is_chosen[i] = True
    return is_chosen


def empty_trace(case: Case) -> Trace:
    """A trace of nothing yet."""
    return Trace(
        harvested=[0] * case.clients,
        overflow=[0] * case.clients,
        spent_train=[0] * case.clients,
        spent_transmit=[0] * case.clients,
        spent_probe=[0] * case.clients,
        spent_listen=[0] * case.clients,
        spent_download=[0] * case.clients,
        spent_idle=[0] * case.clients,
        conversion_loss=[0] * case.clients,
        leakage=[0] * case.clients,
        short_epochs=[0] * case.clients,
    )
