"""Texts beside each other line by line."""

import random
import time

import pytest

from core.debugger.compare.line_diff import LinePair, line_pairs
from core.debugger.compare.views import comparable


def sides(pairs):
    lefts, rights, _ = zip(*pairs, strict=True)
    return tuple([line for line in side if line is not None] for side in (lefts, rights))


def test_equal_lines_stand_beside_each_other_and_a_rewritten_one_beside_what_it_was():
    assert line_pairs("a\nb\nc", "a\nB\nnew\nc") == (
        LinePair("a", "a", True),
        LinePair("b", "B", False),
        LinePair(None, "new", False),
        LinePair("c", "c", True),
    )


def test_lines_that_differ_in_what_does_not_count_stand_beside_each_other_as_they_are():
    pairs = line_pairs("at 127.0.0.1:80\nb", "at 127.0.0.1:99\nc", key=comparable)
    assert pairs == (LinePair("at 127.0.0.1:80", "at 127.0.0.1:99", True), LinePair("b", "c", False))


def test_no_text_stands_beside_all_lines_of_the_other():
    assert line_pairs("", "a\nb") == (LinePair(None, "a", False), LinePair(None, "b", False))
    assert line_pairs("", "") == ()


@pytest.mark.parametrize("size", [5, 60, 3000])
def test_nothing_is_lost_on_either_side(size):
    chance = random.Random(size)
    left = [f"line {chance.randrange(size)}" for _ in range(size)]
    right = [line for line in left if chance.random() < 0.7]
    for _ in range(size // 5):
        right.insert(chance.randrange(len(right) + 1), f"new {chance.randrange(9)}")
    pairs = line_pairs("\n".join(left), "\n".join(right))
    assert sides(pairs) == (left, right)
    assert sum(pair.same for pair in pairs) >= len(right) // 2


def test_a_line_that_occurs_once_leads_back_through_a_long_text():
    left = [f"old {at}" for at in range(2000)]
    right = [f"new {at}" for at in range(1500)]
    left[1000] = right[700] = "the landmark"
    assert LinePair("the landmark", "the landmark", True) in line_pairs("\n".join(left), "\n".join(right))


@pytest.mark.parametrize("word", ["same", "line {at}", "{at} of the other"])
def test_long_texts_are_paired_in_an_instant(word):
    left = "\n".join(f"line {at % 50}" for at in range(20_000))
    right = "\n".join(word.format(at=at) for at in range(20_000))
    begun = time.process_time()
    line_pairs(left, right)
    assert time.process_time() - begun < 2


def test_refs_before_elements_are_no_difference_but_those_in_actions_are():
    assert comparable('[12] button "Save"\n  [13] link "x"') == comparable(
        '[7] button "Save"\n  [8] link "x"'
    )
    assert comparable("click [12]") != comparable("click [13]")
