import time

from pytestqt.qtbot import QtBot

from gui.widgets.heartbeat import Heartbeat


def test_a_stall_of_the_main_thread_is_told_with_its_length(qtbot: QtBot):
    heartbeat = Heartbeat(interval_ms=5, limit_ms=50)
    heartbeat.start()
    with qtbot.waitSignal(heartbeat.stalled, check_params_cb=lambda late: late > 80) as told:
        end = time.perf_counter() + 0.1
        while time.perf_counter() < end:
            pass
    assert heartbeat.worst >= told.args[0] > 80
    heartbeat.stop()


def test_what_happened_before_the_start_does_not_count(qtbot: QtBot):
    heartbeat = Heartbeat(interval_ms=5, limit_ms=10_000)
    end = time.perf_counter() + 0.08
    while time.perf_counter() < end:
        pass
    with qtbot.assertNotEmitted(heartbeat.stalled, wait=30):
        heartbeat.start()
    heartbeat.stop()
