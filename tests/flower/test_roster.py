"""Names belong to clients, whatever node ids Flower gives their nodes."""

from fallow.flower.server.roster import Roster


def test_numbers_follow_names_and_not_arrival() -> None:
    roster = Roster()
    admitted, refused = roster.admit([(9, "b", 10), (4, "c", 10), (7, "a", 10)], {4, 7, 9})
    assert (roster.names, admitted, refused) == (["a", "b", "c"], {7: 0, 9: 1, 4: 2}, [])


def test_a_client_that_comes_back_on_another_node_is_the_same_client() -> None:
    roster = Roster()
    roster.admit([(1, "a", 10), (2, "b", 10)], {1, 2})
    roster.received[0] = 50
    admitted, _ = roster.admit([(3, "a", 10), (2, "b", 10)], {2, 3})
    assert admitted == {3: 0, 2: 1}
    assert (roster.nodes, roster.received) == ([3, 2], [50, -1])


def test_a_name_can_not_be_taken_from_a_node_that_is_connected() -> None:
    roster = Roster()
    roster.admit([(1, "a", 10)], {1})
    admitted, refused = roster.admit([(2, "a", 10)], {1, 2})  # the owner is there, and silent
    assert (admitted, refused) == ({}, ["Node 2 calls itself 'a', which is node 1."])
    admitted, refused = roster.admit([(1, "a", 10), (2, "a", 10)], {1, 2})
    assert (admitted, len(refused)) == ({1: 0}, 1)


def test_rivals_for_a_free_name_are_all_refused() -> None:
    admitted, refused = Roster().admit([(1, "a", 10), (2, "a", 10), (3, "b", 10)], {1, 2, 3})
    assert admitted == {3: 0}
    assert refused == ["The nodes [1, 2] all call themselves 'a'."]


def test_newcomers_have_the_next_numbers() -> None:
    roster = Roster()
    roster.admit([(1, "m", 10)], {1})
    admitted, _ = roster.admit([(1, "m", 10), (2, "a", 20)], {1, 2})
    assert admitted == {1: 0, 2: 1}
    assert roster.sizes == [10, 20]
