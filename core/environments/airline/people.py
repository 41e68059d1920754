"""Who flies and how they pay: passengers and cards, invented from a seed."""

import random
from datetime import date, timedelta
from typing import Literal, get_args

from core.schema.record import Record

Title = Literal["Mr", "Mrs", "Ms", "Mx", "Dr"]
Gender = Literal["Female", "Male", "Non-binary"]
TITLES: tuple[str, ...] = get_args(Title)
GENDERS: tuple[str, ...] = get_args(Gender)

YEAR = timedelta(days=365)


class Passenger(Record):
    """What the desk keeps of a passenger."""

    title: Title
    first_name: str
    last_name: str
    gender: Gender
    birth: date

    @property
    def name(self) -> str:
        return f"{self.title} {self.first_name} {self.last_name}"


class Card(Record):
    """A payment card that no bank ever issued: its number begins with 9."""

    number: str
    """Sixteen digits that pass the check sum of card numbers."""
    expiry: str
    """As in ``04/29``."""
    cvc: str


_WOMEN = "Ada Beatriz Carmen Dalia Elin Freya Greta Hanna Ines Jana Katarina Leila Maren Nadia Olivia Petra"
_MEN = "Anton Bruno Cedric Dario Emil Felix Gustav Hugo Ivan Jonas Karim Leon Mateo Nils Oscar Pavel"
_BOTH = "Alexis Charlie Kim Robin Sasha Toni"
LAST_NAMES = (
    "Abbott Bergström Castellan Delacroix Engel Farrow Grünwald Haddad Ibsen Jankowski Keller Lindqvist Moreau "
    "Nakamura Okafor Pereira Quist Rossi Sandoval Thorne Ueda Valdez Whitlock Yildiz Zeller O'Brien"
).split()


def first_names(gender: str) -> list[str]:
    return {"Female": _WOMEN, "Male": _MEN}.get(gender, _BOTH).split()


def titles(gender: str) -> list[str]:
    """Return the titles that people of this gender mostly bear."""
    return {"Female": ["Mrs", "Ms", "Dr"], "Male": ["Mr", "Dr"]}.get(gender, ["Mx", "Dr"])


def birth_date(chance: random.Random, today: date) -> date:
    """Return when an adult was born."""
    return today - 20 * YEAR - timedelta(days=chance.randrange(50 * 365))


def passenger(chance: random.Random, today: date) -> Passenger:
    gender = chance.choice(("Female", "Female", "Female", "Male", "Male", "Male", "Non-binary"))
    return Passenger.model_validate(
        {
            "title": chance.choice(titles(gender)),
            "first_name": chance.choice(first_names(gender)),
            "last_name": chance.choice(LAST_NAMES),
            "gender": gender,
            "birth": birth_date(chance, today),
        }
    )


def card(chance: random.Random, today: date) -> Card:
    head = "9" + "".join(str(chance.randrange(10)) for _ in range(14))
    last = next(digit for digit in "0123456789" if passes_check(head + digit))
    return Card(
        number=head + last,
        expiry=f"{chance.randrange(1, 13):02d}/{(today.year + chance.randrange(1, 5)) % 100:02d}",
        cvc=f"{chance.randrange(1000):03d}",
    )


def passes_check(number: str) -> bool:
    """Return whether the last digit fits the others, as on payment cards (every second digit doubled)."""
    total = 0
    for place, digit in enumerate(reversed(number)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0
