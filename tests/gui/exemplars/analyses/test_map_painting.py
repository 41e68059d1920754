import numpy as np
import pytest

from gui.exemplars.analyses.map_colours import SYMBOLS
from gui.exemplars.analyses.map_painting import picture_of

RED, BLUE = (255, 0, 0, 255), (0, 0, 255, 255)


def drawn(places, shape="circle", ratio=1.0):
    colours = np.array([RED, BLUE][: len(places)], np.uint8)
    shapes = np.full(len(places), list(SYMBOLS).index(shape))
    return picture_of(np.array(places, float), shapes, colours, (20, 10), ratio)


def test_each_point_is_drawn_around_its_place_and_later_ones_above_earlier_ones():
    picture = drawn([(5, 5), (6, 5)])
    assert picture.shape == (10, 20, 4)
    assert tuple(picture[5, 6]) == BLUE
    assert tuple(picture[5, 3]) == RED
    assert not picture[:, 10:].any()


def test_a_point_at_the_edge_is_cut_there():
    picture = drawn([(0, 0), (19.9, 9.9)])
    assert tuple(picture[0, 0]) == RED
    assert tuple(picture[9, 19]) == BLUE
    assert not picture[0, 17:].any()


@pytest.mark.parametrize("shape", SYMBOLS)
def test_a_point_has_its_shape_and_is_larger_where_pixels_are_smaller(shape):
    small = drawn([(4, 4)], shape)[..., 3] > 0
    assert 0 < small.sum() < (drawn([(4, 4)], shape, ratio=2.0)[..., 3] > 0).sum()


def test_a_triangle_points_up():
    widths = (drawn([(4, 4)], "triangle")[2:7, :, 3] > 0).sum(axis=1)
    assert list(widths) == sorted(widths)
    assert widths[0] < widths[-1]
