from hypothesis import given
from hypothesis import strategies as st

from gui.panels.state.diagram_layout import BoxPlace, Layout, lay_out

SIZE = (80.0, 30.0)
LABEL = (60.0, 14.0)


def laid(states: str, *edges: str) -> Layout:
    return lay_out(dict.fromkeys(states, SIZE), {(edge[0], edge[1]): LABEL for edge in edges})


def overlap(one: BoxPlace, other: BoxPlace) -> bool:
    return (
        abs(one.x - other.x) * 2 < one.width + other.width - 0.01
        and abs(one.y - other.y) * 2 < one.height + other.height - 0.01
    )


def test_a_chain_goes_from_top_to_bottom():
    layout = laid("abc", "ab", "bc")
    assert layout.boxes["a"].y < layout.labels["a", "b"].y < layout.boxes["b"].y < layout.boxes["c"].y


def test_a_way_back_is_drawn_upwards_beside_the_way_there():
    layout = laid("ab", "ab", "ba")
    there, back = layout.lines["a", "b"], layout.lines["b", "a"]
    assert there[0][1] < there[-1][1]
    assert back[0][1] > back[-1][1]
    assert layout.labels["a", "b"].x != layout.labels["b", "a"].x


def test_the_first_state_is_on_top_though_ways_lead_back_to_it():
    layout = laid("abcd", "ab", "bc", "cd", "ca", "da", "db")
    assert layout.boxes["a"].y == min(box.y for box in layout.boxes.values())


def test_a_way_to_itself_has_no_line():
    layout = laid("ab", "aa", "ab")
    assert set(layout.lines) == {("a", "b")}


def test_states_that_nothing_leads_to_stand_there_too():
    layout = laid("abc", "ab")
    assert set(layout.boxes) == set("abc")


def test_no_states_have_no_size():
    layout = laid("")
    assert (layout.width, layout.height) == (0.0, 0.0)


@given(
    st.integers(1, 9).flatmap(
        lambda count: st.tuples(
            st.just(count),
            st.sets(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=24),
        )
    )
)
def test_boxes_and_labels_never_lie_over_each_other_and_all_is_in_view(made):
    count, pairs = made
    names = [str(number) for number in range(count)]
    layout = lay_out(dict.fromkeys(names, SIZE), {(str(a), str(b)): LABEL for a, b in sorted(pairs)})
    places = [*layout.boxes.values(), *layout.labels.values()]
    for at, one in enumerate(places):
        assert one.x - one.width / 2 >= -0.01
        assert one.x + one.width / 2 <= layout.width + 0.01
        assert one.y - one.height / 2 + 0.01 >= 0
        assert one.y + one.height / 2 <= layout.height + 0.01
        for other in places[at + 1 :]:
            assert not overlap(one, other)
