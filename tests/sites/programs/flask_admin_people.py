"""Flask-Admin over a table of people and one of cities; the argument is the port."""

import datetime
import sys

from flask import Flask
from flask_admin import Admin
from flask_admin.contrib.sqla import ModelView
from flask_sqlalchemy import SQLAlchemy

app = Flask(__name__)
app.config.update(SECRET_KEY="of a test", SQLALCHEMY_DATABASE_URI="sqlite://")
db = SQLAlchemy(app)


class City(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    name = db.Column(db.String(50), nullable=False)

    def __str__(self):
        return self.name


class Person(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    name = db.Column(db.String(50), nullable=False)
    phone = db.Column(db.String(20))
    active = db.Column(db.Boolean)
    born = db.Column(db.Date)
    city_id = db.Column(db.Integer, db.ForeignKey(City.id))
    city = db.relationship(City)


class People(ModelView):
    column_list = ("name", "phone", "city", "active")
    column_searchable_list = ("name",)
    column_filters = ("name", "active")
    column_editable_list = ("phone",)


admin = Admin(app, name="People")
admin.add_view(People(Person, db, endpoint="person"))
admin.add_view(ModelView(City, db, endpoint="city"))

with app.app_context():
    db.create_all()
    oslo, bergen = City(name="Oslo"), City(name="Bergen")
    born = datetime.date(1990, 5, 17)
    db.session.add_all(
        [
            Person(name="Kari", phone="", city=oslo, active=True, born=born),
            Person(name="Ada", phone="123", city=bergen, active=False, born=born),
        ]
    )
    db.session.commit()

app.run("127.0.0.1", int(sys.argv[1]))
