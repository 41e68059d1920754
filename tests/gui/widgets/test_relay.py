import gc
import threading
import weakref

from PySide6.QtCore import QObject, QThread
from pytestqt.qtbot import QtBot

from core.schema.signal import Signal
from gui.widgets.relay import Relay


def send_from_thread(signal: Signal, values: list) -> None:
    def work() -> None:
        for value in values:
            signal.send(value)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_a_value_sent_in_another_thread_arrives_on_the_gui_thread(qtbot: QtBot, qapp):
    signal: Signal[int] = Signal()
    relay = Relay(signal)
    threads = []
    relay.received.connect(lambda _value: threads.append(QThread.currentThread()))
    with qtbot.waitSignal(relay.received):
        send_from_thread(signal, [1])
    assert threads == [qapp.thread()]
    relay.close()


def test_of_a_burst_the_latest_value_wins(qtbot: QtBot):
    signal: Signal[int] = Signal()
    relay = Relay(signal)
    seen: list[int] = []
    relay.received.connect(seen.append)
    send_from_thread(signal, list(range(10_000)))
    qtbot.waitUntil(lambda: bool(seen) and seen[-1] == 9_999)
    assert len(seen) < 10
    relay.close()


def test_keeping_every_value_loses_none_and_keeps_their_order(qtbot: QtBot):
    signal: Signal[int] = Signal()
    relay = Relay(signal, keep="every")
    seen: list[int] = []
    relay.received.connect(seen.extend)
    for start in range(0, 5000, 1000):
        send_from_thread(signal, list(range(start, start + 1000)))
    qtbot.waitUntil(lambda: len(seen) == 5000)
    assert seen == list(range(5000))
    relay.close()


def test_values_come_no_closer_together_than_the_interval(qtbot: QtBot):
    signal: Signal[int] = Signal()
    relay = Relay(signal, interval_ms=80)
    seen: list[int] = []
    relay.received.connect(seen.append)
    signal.send(1)
    qtbot.waitUntil(lambda: seen == [1])
    signal.send(2)
    signal.send(3)
    qtbot.waitUntil(lambda: len(seen) == 2)
    assert seen == [1, 3]
    relay.close()


def test_nothing_arrives_after_close(qtbot: QtBot):
    signal: Signal[int] = Signal()
    relay = Relay(signal)
    with qtbot.assertNotEmitted(relay.received, wait=50):
        signal.send(1)
        relay.close()
        signal.send(2)


def test_a_destroyed_relay_stops_listening(qtbot: QtBot, qapp):
    signal: Signal[int] = Signal()
    parent = QObject()
    Relay(signal, parent=parent)
    assert len(signal._listeners) == 1
    parent.deleteLater()
    qtbot.waitUntil(lambda: not signal._listeners)
    send_from_thread(signal, [1])


def test_closed_relays_leave_nothing_behind(qtbot: QtBot):
    signal: Signal[int] = Signal()
    dead = []
    for _ in range(50):
        relay = Relay(signal)
        dead.append(weakref.ref(relay))
        relay.close()
        relay.deleteLater()
        del relay
    # To collect takes seconds where much is loaded and the machine is busy.
    qtbot.waitUntil(lambda: gc.collect() >= 0 and not any(ref() for ref in dead), timeout=60_000)
    assert signal._listeners == []
