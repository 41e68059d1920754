"""Datasette on a table of its own; the argument is the port."""

import sqlite3
import sys

from datasette.cli import cli

with sqlite3.connect("pets.db") as database:
    database.execute("create table pets (id integer primary key, name text, kind text, age integer)")
    database.executemany(
        "insert into pets (name, kind, age) values (?, ?, ?)",
        [("Rex", "dog", 7), ("Mia", "cat", 2), ("Ada", "cat", 9)],
    )
database.close()
cli(["serve", "pets.db", "--port", sys.argv[1]])
