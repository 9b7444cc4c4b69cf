"""The checker finds each kind of anomaly, and no anomaly in correct histories."""

import random
import unittest

from checks import check
from transactions import Operation, Outcome, Transaction


def append(key, value):
    return Operation("append", key, value)


def read(key, *found):
    return Operation("read", key, found=list(found))


def replace(key, value):
    return Operation("replace", key, value)


def look(key, *found):
    return Operation("look", key, found=list(found))


def history(*entries):
    """A history from entries (start, end, operations...) or (start, end, outcome, operations...)."""
    made = []
    for number, (start, end, *rest) in enumerate(entries):
        outcome = rest.pop(0) if isinstance(rest[0], Outcome) else Outcome.DONE
        made.append(Transaction(number, f"c{number}", rest, start, end, outcome))
    return made


def rules(*entries):
    return [anomaly.rule for anomaly in check(history(*entries))]


class Lists(unittest.TestCase):
    def test_nothing_is_wrong(self):
        self.assertEqual(
            rules((0, 1, append("x", 1)), (1.5, 3, read("x", 1), append("x", 2)), (2, 2.5, read("x", 1)), (4, 5, read("x", 1, 2))),
            [],
        )

    def test_an_acknowledged_append_is_gone(self):
        self.assertEqual(rules((0, 1, append("x", 1)), (2, 3, append("x", 2)), (4, 5, read("x", 2))), ["lost write"])

    def test_a_list_is_empty_at_the_end(self):
        self.assertEqual(rules((0, 1, append("x", 1)), (4, 5, read("x"))), ["lost write"])

    def test_it_may_come_after_a_read_beside_it(self):
        self.assertEqual(rules((0, 2, append("x", 1)), (1, 3, read("x")), (4, 5, read("x", 1))), [])

    def test_nobody_knows_whether_it_was_written(self):
        for found in ([], [1]):
            self.assertEqual(rules((0, 9, Outcome.UNKNOWN, append("x", 1)), (4, 5, read("x", *found))), [])

    def test_a_failed_write_is_read(self):
        self.assertEqual(rules((0, 1, Outcome.FAILED, append("x", 1)), (2, 3, read("x", 1))), ["dirty read"])

    def test_a_part_of_a_transaction_is_read(self):
        self.assertEqual(
            rules((0, 5, append("x", 1), append("x", 2)), (2, 3, read("x", 1)), (6, 7, read("x", 1, 2))), ["half read"]
        )

    def test_a_value_comes_from_nowhere_or_twice(self):
        self.assertEqual(rules((0, 1, read("x", 7))), ["value from nowhere"])
        self.assertEqual(rules((0, 1, append("x", 1)), (2, 3, read("x", 1, 1))), ["value twice"])

    def test_two_orders(self):
        self.assertEqual(
            rules((0, 9, append("x", 1)), (0, 9, append("x", 2)), (1, 2, read("x", 1, 2)), (1, 2, read("x", 2))), ["fork"]
        )

    def test_a_write_is_not_read_after_it_was_acknowledged(self):
        self.assertEqual(rules((0, 1, append("x", 1)), (2, 3, read("x")), (4, 5, read("x", 1))), ["cycle"])

    def test_lost_update(self):
        """Two transactions read the same list, and both append to it."""
        self.assertEqual(
            rules((0, 5, read("x"), append("x", 1)), (0, 5, read("x"), append("x", 2)), (6, 7, read("x", 1, 2))), ["cycle"]
        )

    def test_write_skew(self):
        self.assertEqual(
            rules(
                (0, 5, read("x"), append("y", 1)),
                (0, 5, read("y"), append("x", 2)),
                (6, 7, read("x", 2), read("y", 1)),
            ),
            ["cycle"],
        )

    def test_two_lists_at_different_moments(self):
        self.assertEqual(
            rules((0, 9, append("x", 1), append("y", 2)), (1, 8, read("x", 1), read("y")), (10, 11, read("x", 1), read("y", 2))),
            ["cycle"],
        )


class Registers(unittest.TestCase):
    def test_nothing_is_wrong(self):
        self.assertEqual(
            rules((0, 1, look("r", 0, 0)), (1, 4, replace("r", 1)), (2, 3, look("r", 0)), (3.5, 6, look("r", 1)), (5, 6, look("r", 1))),
            [],
        )

    def test_half(self):
        self.assertEqual(rules((0, 4, replace("r", 1)), (2, 3, look("r", 0, 1))), ["half read"])

    def test_an_older_value_after_a_newer_one(self):
        self.assertEqual(
            rules((0, 1, replace("r", 1)), (2, 3, replace("r", 2)), (4, 5, look("r", 1))), ["stale or lost"]
        )

    def test_the_first_value_again(self):
        self.assertEqual(rules((0, 1, replace("r", 1)), (2, 3, look("r", 0))), ["stale or lost"])

    def test_a_failed_write_and_one_that_nobody_knows_of(self):
        self.assertEqual(rules((0, 1, Outcome.FAILED, replace("r", 1)), (2, 3, look("r", 1))), ["dirty read"])
        self.assertEqual(rules((0, 1, Outcome.UNKNOWN, replace("r", 1)), (2, 3, look("r", 1))), [])
        self.assertEqual(rules((0, 1, Outcome.UNKNOWN, replace("r", 1)), (2, 3, look("r", 0))), [])

    def test_it_goes_back_and_forth(self):
        self.assertEqual(
            rules((0, 9, Outcome.UNKNOWN, replace("r", 1)), (1, 2, look("r", 1)), (3, 4, look("r", 0))), ["stale or lost"]
        )

    def test_before_it_was_written(self):
        self.assertEqual(rules((0, 1, look("r", 1)), (2, 3, replace("r", 1))), ["read from the future"])


class Random(unittest.TestCase):
    def test_histories_of_a_serial_database_are_right(self):
        """Transactions that take effect at one moment between their beginning and their end have no anomalies."""
        for seed in range(30):
            rng = random.Random(seed)
            lists, registers, made = {}, {}, []
            for number in range(200):
                moment = number + rng.random()
                operations = []
                for _ in range(rng.randint(1, 3)):
                    key = rng.choice("xyz")
                    if rng.random() < 0.3:
                        value = 1000 * seed + 10 * number + len(operations) + 1
                        lists.setdefault(key, []).append(value)
                        operations.append(append(key, value))
                    elif rng.random() < 0.5:
                        operations.append(read(key, *lists.get(key, [])))
                    elif rng.random() < 0.5 and not any(op.kind == "replace" for op in operations):
                        registers[key] = 1000 * seed + 10 * number + 5
                        operations.append(replace(key, registers[key]))
                    elif not any(op.kind == "replace" for op in operations):
                        operations.append(look(key, registers.get(key, 0)))
                outcome = Outcome.UNKNOWN if rng.random() < 0.1 else Outcome.DONE
                made.append(
                    Transaction(number, "c", operations, moment - 3 * rng.random(), moment + 3 * rng.random(), outcome)
                )
            self.assertEqual([a.text for a in check(made)], [], seed)


if __name__ == "__main__":
    unittest.main()
